"""Masks: turned as images are, and boxes that fit around them."""

import io

import numpy
import pytest
from hypothesis import assume, given, settings, strategies
from PIL import Image, ImageOps

from data_prep.images import boxes, masks

shapes = strategies.tuples(strategies.integers(1, 12), strategies.integers(1, 12))


@strategies.composite
def some_masks(draw):
    shape = draw(shapes)
    return numpy.array(
        draw(strategies.lists(strategies.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    ).reshape(shape)


@settings(deadline=None)
@given(some_masks(), strategies.integers(1, 8))
def test_a_mask_and_its_box_turn_alike_and_as_pillow_turns_a_image(mask, orientation):
    assume(mask.any())
    turned = masks.turn(mask, orientation)
    height, width = mask.shape
    assert masks.extent(turned) == boxes.turn(masks.extent(mask), orientation, width, height)
    stored = Image.fromarray(mask.astype(numpy.uint8) * 255)
    exif = stored.getexif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    stored.save(out, "PNG", exif=exif.tobytes())
    assert numpy.array_equal(numpy.asarray(ImageOps.exif_transpose(Image.open(out))) > 0, turned)


@settings(deadline=None)
@given(some_masks())
def test_a_mask_survives_as_png_and_as_floats(mask):
    assert numpy.array_equal(numpy.asarray(Image.open(io.BytesIO(masks.png(mask)))), mask)
    assert numpy.array_equal(numpy.frombuffer(masks.floats(mask), "<f4").reshape(mask.shape), mask)


def test_an_empty_mask_has_no_box():
    assert masks.extent(numpy.zeros((3, 4), bool)) is None


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_mask_can_be_written(orientation):
    """Turning gives views with negative strides, which not everything takes."""
    mask = numpy.arange(12).reshape(3, 4) % 3 == 0
    assert masks.png(masks.turn(mask, orientation)) and masks.floats(masks.turn(mask, orientation))
