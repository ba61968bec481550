"""In which frame an annotation's numbers stand: Exif orientations, sizes that differ, shares and percent."""

import pytest

from data_prep.images import frame
from data_prep.images.boxes import Box
from data_prep.images.normalize import UprightJpeg
from data_prep.source.annotation import Annotation, Object

STORED = (80, 60)
BOX = Box(5.0, 10.0, 25.0, 30.0)
# The box drawn on the stored image, on the upright one (Exif 2.32, 4.6.4: which row and column come first).
TURNED = {
    2: (55, 10, 75, 30),
    3: (55, 30, 75, 50),
    4: (5, 30, 25, 50),
    5: (10, 5, 30, 25),
    6: (30, 5, 50, 25),
    7: (30, 55, 50, 75),
    8: (10, 55, 30, 75),
}


def image(orientation=1, size=STORED):
    width, height = size if orientation < 5 else size[::-1]
    return UprightJpeg(b"", width, height, orientation, None)


def annotation(size=(0, 0), box=BOX, unit="pixels"):
    return Annotation(size[0], size[1], [Object(box, "cat")], unit=unit)


@pytest.mark.parametrize("orientation", range(5, 9))
def test_the_size_that_is_stated_decides_on_its_side(orientation):
    on_stored = frame.of(annotation(STORED), image(orientation), frame.UPRIGHT)
    assert tuple(on_stored.place(BOX)) == TURNED[orientation]
    on_upright = frame.of(annotation(STORED[::-1]), image(orientation), frame.STORED)
    assert on_upright.place(BOX) == BOX


@pytest.mark.parametrize("orientation", range(2, 5))
def test_where_both_sizes_are_the_same_the_neighbours_decide(orientation):
    assert frame.of(annotation(STORED), image(orientation), frame.UPRIGHT).place(BOX) == BOX
    turned = frame.of(annotation(STORED), image(orientation), frame.STORED).place(BOX)
    assert tuple(turned) == TURNED[orientation]


@pytest.mark.parametrize(
    "claimed, orientation, size",
    [(STORED, 3, STORED), ((0, 0), 6, STORED), ((50, 50), 6, (50, 50)), ((70, 70), 8, STORED)],
)
def test_without_anything_that_decides_both_readings_are_named(claimed, orientation, size):
    with pytest.raises(ValueError, match="--exif stored or --exif upright"):
        frame.of(annotation(claimed), image(orientation, size))


@pytest.mark.parametrize("claimed, scale", [((40, 30), 2), ((160, 120), 0.5), ((80, 60), 1), ((0, 60), 1)])
def test_a_size_of_the_same_shape_scales(claimed, scale):
    found = frame.of(annotation(claimed), image())
    assert found.place(BOX) == Box(*(side * scale for side in BOX))
    assert bool(found.note) == (scale != 1)


def test_rounded_sides_are_of_the_same_shape():
    """500x375 at a width of 333 is 249.75 high: tools round that up or down."""
    assert frame.alike((333, 250), (500, 375)) and frame.alike((333, 249), (500, 375))
    assert not frame.alike((333, 240), (500, 375))


def test_a_size_that_was_scaled_and_laid_on_its_side_is_told_apart():
    assert frame.of(annotation((120, 160)), image(6), frame.STORED).orientation == 1
    assert frame.of(annotation((160, 120)), image(6), frame.UPRIGHT).orientation == 6


@pytest.mark.parametrize(
    "claimed, box, why",
    [
        ((40, 60), BOX, "by unlike factors"),
        ((60, 80), BOX, "by unlike factors"),
        ((40, 30), Box(5.0, 10.0, 60.0, 30.0), "leaves the first"),
        ((40, 30), Box(5.0, 10.0, 25.0, 32.0), "leaves the first"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(claimed, box, why):
    with pytest.raises(ValueError, match=why):
        frame.of(annotation(claimed, box), image())


@pytest.mark.parametrize("unit, whole", [("fraction", 1.0), ("percent", 100.0)])
def test_shares_are_of_the_frame_that_counts(unit, whole):
    box = Box(0.25 * whole, 0.5 * whole, 0.5 * whole, whole)
    assert frame.of(annotation(unit=unit), image()).place(box) == Box(20, 30, 40, 60)
    assert frame.of(annotation(unit=unit), image(6), frame.UPRIGHT).place(box) == Box(15, 40, 30, 80)


@pytest.mark.parametrize(
    "claimed, stored, said",
    [
        ((80, 60), (80, 60), frame.STORED),
        ((60, 80), (80, 60), frame.UPRIGHT),
        ((30, 40), (80, 60), frame.UPRIGHT),
        ((50, 50), (50, 50), ""),
        ((70, 20), (80, 60), ""),
        ((0, 0), (80, 60), ""),
    ],
)
def test_what_a_stated_size_says_of_a_tool(claimed, stored, said):
    assert frame.evidence(claimed, stored) == said
