"""Masks in COCO's forms: polygons, and run lengths (RLE) plain or compressed."""

import math
from typing import Any, List, Tuple

# pycocotools draws each edge of a polygon point by point, which far outside of an image takes memory without end.
_FARTHEST_PIXEL = 100000.0
_CORNERS = 3


def without_slivers(segmentation: Any) -> Tuple[Any, Tuple[str, ...]]:
    """(the segmentation less polygons of one or two points, which enclose nothing; what is told of them).

    It stays as it is where it has no others.
    """
    if not isinstance(segmentation, list):
        return segmentation, ()
    whole = [part for part in segmentation if not (isinstance(part, list) and len(part) < 2 * _CORNERS)]
    slivers = len(segmentation) - len(whole)
    if not whole or not slivers:
        return segmentation, ()
    return whole, (f"{slivers} of {len(segmentation)} polygons of a mask have less than three points: left out",)


def draw(segmentation: Any, size: Tuple[int, int]) -> Any:
    """The mask of an object.

    Args:
        segmentation: of its annotation.
        size: (width, height) that the annotation claims; zeros where it claims none.

    Returns:
        boolean array (height, width): True inside of a polygon or a run of an RLE.

    Raises:
        ValueError: it is broken, which pycocotools does not check: it would write past the end. The text says how.
    """
    from PIL import Image
    from pycocotools import mask as coco_masks

    width, height = size
    if not 0 < width * height <= Image.MAX_IMAGE_PIXELS:
        raise ValueError("a mask needs the image's width and height in the JSON")
    if isinstance(segmentation, list):
        runs = coco_masks.merge(coco_masks.frPyObjects(_polygons(segmentation), height, width))
    else:
        runs = coco_masks.frPyObjects(_uncompressed(segmentation, width, height), height, width)
    return coco_masks.decode(runs).astype(bool)


def _polygons(segmentation):
    for polygon in segmentation:
        points = isinstance(polygon, list) and len(polygon) >= 6 and len(polygon) % 2 == 0
        if not points or not all(type(value) in (int, float) for value in polygon):
            raise ValueError("a polygon is no list of at least three points")
        if any(not math.isfinite(value) or abs(value) > _FARTHEST_PIXEL for value in polygon):
            raise ValueError("a polygon has a point far outside of the image")
    # Two points would be taken for a box by pycocotools; four numbers were refused above.
    return [list(map(float, polygon)) for polygon in segmentation]


def _uncompressed(segmentation, width, height):
    """{"size", "counts"} with counts as a list that covers the image exactly. Raises ValueError."""
    if not isinstance(segmentation, dict) or segmentation.get("size") != [height, width]:
        raise ValueError("a mask's run lengths are for an image of another size")
    counts = segmentation.get("counts")
    if isinstance(counts, str):
        counts = expand_counts(counts)
    if (
        not isinstance(counts, list)
        or not all(type(count) is int and count >= 0 for count in counts)
        or sum(counts) != width * height
    ):
        raise ValueError("a mask's run lengths do not add up to the image's pixels")
    return {"size": [height, width], "counts": counts}


def expand_counts(text: str) -> List[int]:
    """The run lengths in COCO's compressed form (maskApi.c, rleFrString).

    Five bits a character, lowest first, 32 for "goes on", then the difference to the run before the last one.

    Raises:
        ValueError: text is none.
    """
    counts: List[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise ValueError("a mask's run lengths cannot be read")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        if len(counts) > 2:
            value += counts[-2]
        counts.append(value)
        value, shift = 0, 0
    if shift:
        raise ValueError("a mask's run lengths cannot be read")
    return counts
