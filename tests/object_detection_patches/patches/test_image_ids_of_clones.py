"""The images of a step are known."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_the_images_of_each_clone_are_known_and_the_loss_is_for_the_caller_to_judge(clones):
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["image_ids"] == [["string", [2]], ["string", [2]]]
    assert clones["loss_checks"] == []
