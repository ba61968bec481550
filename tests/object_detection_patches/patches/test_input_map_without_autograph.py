"""AutoGraph converts nothing of the input, which stays what it was."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_autograph_converts_nothing_of_the_input(inputs):
    assert inputs["converted"] == []


def test_the_input_is_decoded_augmented_and_padded_as_before(inputs):
    assert inputs["shape"] == [2, 8, 8, 3]
    assert (inputs["red"], inputs["green"]) == (255, 0)
    assert inputs["boxes"][0] == pytest.approx([0.1, 0.2, 0.6, 0.7], abs=1e-6)
    assert inputs["boxes"][1:] == [[0, 0, 0, 0]] * 2
    assert inputs["classes"] == [[1, 0], [0, 0], [0, 0]]
