"""Masks in COCO's forms, drawn; ../formats/test_coco.py has what becomes of them in records."""

import pytest
from hypothesis import given, settings, strategies
from pycocotools import mask as by_pycocotools

from data_prep.images import coco_masks


@settings(deadline=None)
@given(strategies.lists(strategies.integers(0, 50), min_size=1, max_size=20))
def test_compressed_run_lengths_are_read_as_pycocotools_writes_them(counts):
    pixels = sum(counts)
    if pixels:
        runs = by_pycocotools.frPyObjects({"size": [pixels, 1], "counts": counts}, pixels, 1)
        assert coco_masks.expand_counts(runs["counts"].decode("ascii")) == counts


@settings(deadline=None)
@given(strategies.text(max_size=30))
def test_no_text_makes_run_lengths_end_the_run(text):
    try:
        coco_masks.draw({"size": [30, 40], "counts": text}, (40, 30))
    except ValueError as reason:
        assert str(reason)


def test_the_last_character_of_run_lengths_may_not_say_that_it_goes_on():
    with pytest.raises(ValueError, match="cannot be read"):
        coco_masks.expand_counts("o")


@pytest.mark.parametrize(
    "segmentation",
    [
        [[1, 0, 3, 0, 3, 2, 1, 2]],
        [[1, 0, 2, 0, 2, 2, 1, 2], [2, 0, 3, 0, 3, 2, 2, 2]],
        {"size": [2, 4], "counts": [2, 4, 2]},  # down the columns
    ],
)
def test_every_form_is_drawn_as_height_by_width(segmentation):
    drawn = coco_masks.draw(segmentation, (4, 2))
    assert drawn.dtype == bool and drawn.tolist() == [[False, True, True, False]] * 2


@pytest.mark.parametrize("size", [(0, 0), (0, 30), (10**6, 10**6)])
def test_a_mask_needs_a_size_that_an_image_can_have(size):
    with pytest.raises(ValueError, match="width and height in the JSON"):
        coco_masks.draw([[0, 0, 1, 0, 1, 1]], size)


@pytest.mark.parametrize(
    "given, kept, told",
    [
        ([[1, 1, 2, 2], [0, 0, 9, 0, 9, 9]], [[0, 0, 9, 0, 9, 9]], 1),
        ([[0, 0, 9, 0, 9, 9]], [[0, 0, 9, 0, 9, 9]], 0),
        ([[1, 1, 2, 2]], [[1, 1, 2, 2]], 0),  # nothing else: it is broken, and told as that
        ({"size": [1, 1], "counts": [1]}, {"size": [1, 1], "counts": [1]}, 0),
    ],
)
def test_polygons_without_an_area_are_left_out_where_others_are_there(given, kept, told):
    segmentation, notes = coco_masks.without_slivers(given)
    assert (segmentation, len(notes)) == (kept, told)
