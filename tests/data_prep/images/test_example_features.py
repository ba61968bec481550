"""One image and its annotation as the features of an example, with the API's keys."""

import hashlib

import numpy
import pytest
from PIL import Image

from common.errors import DataError
from data_prep.images import example_features, masks
from data_prep.images.boxes import Box
from data_prep.images.example_features import Recipe, Source
from data_prep.source.annotation import Annotation, Object
from data_prep.tfrecord import codec

LABELS = {"cat": 1, "dog": 2}
VOC = Recipe(LABELS)
CAT = Object(Box(4, 6, 20, 27), "cat", difficult=1, truncated=1, pose="Left")
# In an annotation of half the image's size.
SMALL_CAT = CAT._replace(box=Box(2, 3, 10, 13.5))


@pytest.fixture
def convert(encode):
    """function(*objects, ...) -> Outcome of the 40x30 image with them."""

    def converted(*objects, size=(40, 30), recipe=VOC, data=None, exif=str):
        source = Source("a.jpg", "7", data or encode(), exif=exif)
        return example_features.convert(source, Annotation(size[0], size[1], list(objects)), recipe)

    return converted


def values(outcome, key):
    return codec.decode(codec.encode(outcome.features))["image/" + key]


def test_an_example_has_the_image_its_names_and_boxes_as_shares(convert, encode):
    outcome = convert(CAT, Object(Box(0, 0, 40, 30), "dog"))
    assert (outcome.labels, outcome.notes, outcome.size) == ((1, 2), (), (40, 30))
    assert (values(outcome, "encoded"), values(outcome, "format")) == ([encode()], [b"jpeg"])
    assert (values(outcome, "filename"), values(outcome, "source_id")) == ([b"a.jpg"], [b"7"])
    sides = [values(outcome, "object/bbox/" + side)[0] for side in ("xmin", "ymin", "xmax", "ymax")]
    assert sides == pytest.approx([0.1, 0.2, 0.5, 0.9])
    assert values(outcome, "object/class/text") == [b"cat", b"dog"]
    assert (values(outcome, "object/difficult"), values(outcome, "object/view")) == ([1, 0], [b"Left", b""])
    assert "image/object/is_crowd" not in outcome.features and "image/object/mask" not in outcome.features


def test_cocos_features_stand_in_place_of_vocs(convert):
    outcome = convert(SMALL_CAT._replace(crowd=1, area=8.0), size=(20, 15), recipe=Recipe(LABELS, coco=True))
    assert (values(outcome, "object/is_crowd"), values(outcome, "object/area")) == ([1], [32.0])
    assert "image/object/difficult" not in outcome.features


@pytest.mark.parametrize(
    "item, kind, why",
    [
        (Object(None, "cat"), "rejected box", "an object has no box that can be read"),
        (Object(None, "cat", problem="a shape is a line"), "rejected box", "a shape is a line"),
        (Object(Box(0, 0, 9, 9), ""), "rejected box", "an object has no class name"),
        (Object(Box(0, 0, 99, 9), "cat"), "rejected box", "59 px outside"),
        (Object(Box(0, 0, 41, 9), "cat"), "clipped box", "one pixel outside"),
        (CAT._replace(notes=("it was rotated",)), "changed object", "it was rotated"),
    ],
)
def test_what_is_changed_or_left_out_is_noted_and_the_rest_stays(convert, item, kind, why):
    outcome = convert(CAT, item)
    ((found, text),) = outcome.notes
    assert found == kind and why in text
    assert len(outcome.labels) == (1 if kind == "rejected box" else 2)


def test_an_image_that_loses_every_box_is_skipped_and_one_without_objects_is_not(convert):
    with pytest.raises(ValueError, match="no box that can be read; an object has no class name"):
        convert(Object(None, "cat"), Object(Box(0, 0, 9, 9), ""))
    assert convert().labels == ()


def test_a_class_that_nobody_knew_stops_the_run(convert):
    with pytest.raises(DataError, match="The class bird appeared"):
        convert(CAT._replace(name="bird"))


@pytest.mark.parametrize("kind", ["png", "numerical"])
def test_a_mask_is_scaled_with_its_image(convert, kind):
    drawn = numpy.zeros((15, 20), bool)
    drawn[:, :10] = True
    outcome = convert(SMALL_CAT._replace(mask=lambda: drawn), size=(20, 15), recipe=Recipe(LABELS, masks=kind))
    expected = numpy.zeros((30, 40), bool)
    expected[:, :20] = True
    assert values(outcome, "object/mask") == ([masks.png(expected)] if kind == "png" else expected.ravel().tolist())


def test_an_object_without_a_mask_is_left_out_where_masks_are_wanted(convert):
    drawn = numpy.ones((30, 40), bool)
    outcome = convert(CAT._replace(mask=lambda: drawn), CAT, recipe=Recipe(LABELS, masks="png"))
    assert outcome.notes == (("rejected box", "an object has no mask"),)


def test_exif_is_asked_for_only_where_the_image_has_an_orientation(convert, encode):
    asked = []

    def upright():
        asked.append(True)
        return "upright"

    convert(CAT, size=(0, 0), exif=upright)
    assert asked == []
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = convert(CAT, size=(0, 0), exif=upright, data=encode(exif=exif.tobytes()))
    assert asked == [True] and turned.size == (30, 40)
    assert values(turned, "object/bbox/xmax") == pytest.approx([20 / 30])


def test_boxes_in_pixels_of_the_image_stay_whatever_size_is_claimed(convert):
    outcome = convert(CAT, size=(400, 300), recipe=Recipe(LABELS, any_size=True))
    assert outcome.notes == (("other size", "the annotation says 400x300, the image is 40x30"),)
    assert values(outcome, "object/bbox/xmax") == pytest.approx([0.5])


def test_the_checksums_are_of_the_file_and_of_what_is_written(convert, encode):
    png = encode(kind="PNG")
    outcome = convert(CAT, data=png)
    assert outcome.source_sha256 == hashlib.sha256(png).hexdigest()
    assert values(outcome, "key/sha256") == [hashlib.sha256(values(outcome, "encoded")[0]).hexdigest().encode()]


def test_an_image_file_that_cannot_be_read_is_a_value_error(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be read \(No such file"):
        example_features.read_file(str(tmp_path / "none.jpg"))


@pytest.mark.parametrize(
    "kind, fields",
    [
        ("none", {"load_instance_masks": False}),
        ("png", {"load_instance_masks": True, "mask_type": "PNG_MASKS"}),
        ("numerical", {"load_instance_masks": True, "mask_type": "NUMERICAL_MASKS"}),
    ],
)
def test_the_config_is_told_of_the_masks(kind, fields):
    assert example_features.config_fields(kind) == fields
