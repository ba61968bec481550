"""What is decided beside the anchors, each with its reason."""

import os

import pytest

from tfod_train.fitted_config.models import MODELS

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def choices(cells_dataset, tmp_path):
    """function(model, **changes of dataset.json) -> Choices."""
    from tfod_train.fitted_config import boxes, choices

    def make(model="ssd_mobilenet_v2", **changes):
        dataset = cells_dataset._replace(description=dict(cells_dataset.description, **changes))
        return choices.make(MODELS[model], dataset, boxes.gather(boxes.sample(cells_dataset)), str(tmp_path))

    return make


@pytest.mark.parametrize("most, detections", [(18, 100), (66, 100), (67, 110), (400, 600)])
def test_more_can_be_found_than_the_fullest_image_has(most, detections, choices):
    made = choices(most_boxes=most)
    assert made.detections == detections and str(most) in made.reasons["detections"]


@pytest.mark.parametrize(
    "classes, flip",
    [
        (["cat", "dog"], True),
        (["turn left", "turn right"], False),
        (["arrow_Left"], False),
        (["7", "8"], False),
        (["a", "b"], False),
        (["bright", "leftover"], True),
    ],
)
def test_mirror_images_are_left_out_where_a_mirror_makes_a_class_wrong(classes, flip, choices):
    assert choices(classes=classes).flip == flip


def test_a_checkpoint_of_the_zoo_is_taken_where_it_is_and_changes_the_steps(choices, tmp_path):
    from tfod_train.checkpoints import model_zoo

    without = choices()
    assert without.schedule.checkpoint is None
    assert "FINE_TUNE_CHECKPOINT=ssd_mobilenet_v2_coco" in without.schedule.checkpoint_reason
    path = model_zoo.checkpoint(model_zoo.find("ssd_mobilenet_v2_coco"), str(tmp_path))
    os.makedirs(os.path.dirname(path))
    open(path + ".index", "w").close()
    with_it = choices()
    assert with_it.schedule.checkpoint == path and with_it.schedule.steps < without.schedule.steps
    assert f"num_steps: {with_it.schedule.steps} is then enough" in without.schedule.checkpoint_reason


@pytest.mark.parametrize("images, steps", [(10, 500), (3200, 10000), (10**6, 20000)])
def test_steps_grow_with_the_images_within_bounds(images, steps):
    from tfod_train.fitted_config import choices

    assert choices._steps("small", False, images, 16)[0] == steps


def test_classes_that_stay_short_are_named(choices):
    assert "still short for tiny" in choices("ssd_mobilenet_v1").anchors.reason
