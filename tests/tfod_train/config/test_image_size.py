"""IMAGE_SIZE, in each way to resize."""

import os

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


def resized(text, resizer):
    """(resizer, changes) after IMAGE_SIZE=text."""
    from google.protobuf import text_format
    from object_detection.protos import image_resizer_pb2

    from tfod_train.config import image_size

    message = text_format.Parse(resizer, image_resizer_pb2.ImageResizer())
    image_size.use(message, text, setattr)
    return message


@pytest.mark.parametrize("text, size", [("320", (320, 320)), ("640x480", (640, 480))])
def test_a_fixed_shape_gets_both_sides(text, size):
    fixed = resized(text, "fixed_shape_resizer { width: 160 height: 160 }").fixed_shape_resizer
    assert (fixed.width, fixed.height) == size


@pytest.mark.parametrize("text, low, high", [("300", 300, 512), ("800x600", 600, 800), ("600x800", 600, 800)])
def test_an_aspect_ratio_that_is_kept_gets_its_shorter_side_and_the_longer_ones_limit(text, low, high):
    keep = resized(text, "keep_aspect_ratio_resizer { min_dimension: 600 max_dimension: 1024 }")
    keep = keep.keep_aspect_ratio_resizer
    assert (keep.min_dimension, keep.max_dimension) == (low, high)


def test_a_config_that_does_not_resize_is_refused():
    with pytest.raises(Refused, match="whose image_resizer is identity_resizer"):
        resized("320", "identity_resizer {}")


def test_the_setting_reaches_the_config_and_is_said(effective):
    made = effective(IMAGE_SIZE="320X256")
    fixed = made.config.model.ssd.image_resizer.fixed_shape_resizer
    assert (fixed.width, fixed.height) == (320, 256)
    assert "width: 160 -> 320 (IMAGE_SIZE)" in made.changes


def test_the_shipped_faster_rcnn_keeps_its_proportion(project_dir):
    from tfod_train.config import image_size, pipeline

    config = pipeline.parse(os.path.join(project_dir, "configs", "faster_rcnn_resnet50_pets.config"))
    resizer = config.model.faster_rcnn.image_resizer
    before = resizer.keep_aspect_ratio_resizer
    ratio = before.max_dimension / before.min_dimension
    image_size.use(resizer, "300", setattr)
    assert before.min_dimension == 300 and before.max_dimension == round(300 * ratio)
