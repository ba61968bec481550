"""Which boxes may become training targets, for any numbers an annotation may hold."""

import io
import math

import pytest
from hypothesis import given, strategies
from PIL import Image, ImageOps

from data_prep.images import boxes
from data_prep.images.boxes import Box

numbers = strategies.floats(-1e6, 1e6) | strategies.sampled_from([math.nan, math.inf, -math.inf, -1.0, 0.0, 100.0])
sides = strategies.integers(1, 5000)


@given(strategies.builds(Box, numbers, numbers, numbers, numbers), sides, sides)
def test_a_box_ends_inside_the_image_or_is_rejected(box, width, height):
    try:
        fitted, clipped = boxes.fit(box, width, height)
    except ValueError:
        return
    assert 0 <= fitted.xmin < fitted.xmax <= width and 0 <= fitted.ymin < fitted.ymax <= height
    assert clipped == (fitted != box)
    assert max(abs(a - b) for a, b in zip(fitted, box)) <= 1


@pytest.mark.parametrize("box", [Box(0, 0, 41, 30), Box(-1, 0, 40, 30), Box(0, -0.5, 40, 31)])
def test_one_pixel_over_is_clipped(box):
    assert boxes.fit(box, 40, 30) == (Box(0, 0, 40, 30), True)


@pytest.mark.parametrize(
    "box, reason",
    [
        (Box(0, 0, 41.5, 30), "1.5 px outside the 40x30 image"),
        (Box(10, 0, 10, 30), "empty or inverted"),
        (Box(20, 0, 10, 30), "empty or inverted"),
        (Box(math.nan, 0, 10, 30), "not finite"),
        (Box(40, 0, 41, 30), "nothing inside"),
        (Box(0.1, 0.1, 400, 300), "px outside"),
    ],
)
def test_a_rejected_box_says_why(box, reason):
    with pytest.raises(ValueError, match=reason):
        boxes.fit(box, 40, 30)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_box_turns_with_its_image(orientation):
    stored = Image.new("L", (40, 30))
    stored.paste(255, (4, 6, 20, 11))
    exif = stored.getexif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    stored.save(out, "PNG", exif=exif.tobytes())
    upright = ImageOps.exif_transpose(Image.open(out))
    assert boxes.turn(Box(4, 6, 20, 11), orientation, 40, 30) == upright.getbbox()


@given(strategies.builds(Box, numbers, numbers, numbers, numbers), strategies.integers(1, 8), sides, sides)
def test_turning_neither_mends_nor_spoils_a_box(box, orientation, width, height):
    turned_size = (width, height) if orientation < 5 else (height, width)
    turned = boxes.turn(box, orientation, width, height)
    if acceptable(box, width, height) and acceptable(turned, *turned_size):
        before, after = (boxes.fit(*of)[0] for of in ((box, width, height), (turned,) + turned_size))
        assert area(after) == pytest.approx(area(before), rel=1e-6, abs=1e-3)
    # Only rounding at a limit may decide differently.
    elif acceptable(box, width, height) != acceptable(turned, *turned_size):
        assert abs(distance_outside(box, width, height) - 1) < 1e-6 or narrowest(box, width, height) < 1e-6


def acceptable(box, width, height):
    try:
        boxes.fit(box, width, height)
    except ValueError:
        return False
    return True


def area(box):
    return (box.xmax - box.xmin) * (box.ymax - box.ymin)


def distance_outside(box, width, height):
    return max(-box.xmin, -box.ymin, box.xmax - width, box.ymax - height)


def narrowest(box, width, height):
    """The smaller side of what lies in the image."""
    return min(min(box.xmax, width) - max(box.xmin, 0), min(box.ymax, height) - max(box.ymin, 0))


@given(strategies.builds(Box, numbers, numbers, numbers, numbers), sides, sides)
def test_each_turn_is_undone_by_its_opposite(box, width, height):
    for orientation, opposite in ((2, 2), (3, 3), (4, 4), (5, 5), (6, 8), (7, 7), (8, 6)):
        size = (width, height) if orientation < 5 else (height, width)
        back = boxes.turn(boxes.turn(box, orientation, width, height), opposite, *size)
        assert back == pytest.approx(box, rel=1e-9, abs=1e-6, nan_ok=True)
