"""The input of a seeded graph repeats."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_the_input_of_a_seeded_graph_repeats_with_random_augmentation(seeded):
    one, again, other, *unseeded = seeded["brightness"]
    assert one == again and one != other
    assert unseeded[0] != unseeded[1]


def test_a_seeded_graph_maps_one_image_at_a_time_and_others_as_many_as_before(seeded):
    assert seeded["calls"] == [[16], [1]]
