"""What a bounding box in an annotation has to be before it may become a training target."""

import math
from typing import Iterable, NamedTuple, Tuple

from data_prep.wording import box_text, size_text

# Tools count pixels from 0 or from 1 and include the last one or not: one pixel over is their rounding.
TOLERANCE_PIXELS = 1.0


class Box(NamedTuple):
    """Pixels from the top left corner, x to the right, y down; xmax and ymax are where the box ends."""

    xmin: float
    ymin: float
    xmax: float
    ymax: float


def fit(box: Box, width: int, height: int) -> Tuple[Box, bool]:
    """Hold a box to its image.

    Args:
        box: Box in pixels.
        width, height: of the decoded image.

    Returns:
        (box inside the image, whether it had to be clipped).

    Raises:
        ValueError: it is not finite, inverted, empty, or more than one pixel outside; the text says which.
    """
    if not all(map(math.isfinite, box)):
        raise ValueError(f"box {box_text(box)} is not finite")
    if box.xmax <= box.xmin or box.ymax <= box.ymin:
        raise ValueError(f"box {box_text(box)} is empty or inverted")
    over = max(-box.xmin, -box.ymin, box.xmax - width, box.ymax - height)
    if over > TOLERANCE_PIXELS:
        raise ValueError(f"box {box_text(box)} is {over:g} px outside the {size_text((width, height))} image")
    if over <= 0:
        return box, False
    inside = Box(max(box.xmin, 0.0), max(box.ymin, 0.0), min(box.xmax, float(width)), min(box.ymax, float(height)))
    if inside.xmax <= inside.xmin or inside.ymax <= inside.ymin:
        raise ValueError(f"box {box_text(box)} has nothing inside the {size_text((width, height))} image")
    return inside, True


def turn(box: Box, orientation: int, width: int, height: int) -> Box:
    """The box after its image, stored as width x height, was turned as Exif's orientation (1-8) says.

    A box that is inverted or not finite stays so.
    """
    x, y = (box.xmin, box.xmax), (box.ymin, box.ymax)
    mirrored_x, mirrored_y = (width - box.xmax, width - box.xmin), (height - box.ymax, height - box.ymin)
    (xmin, xmax), (ymin, ymax) = {
        1: (x, y),
        2: (mirrored_x, y),
        3: (mirrored_x, mirrored_y),
        4: (x, mirrored_y),
        5: (y, x),
        6: (mirrored_y, x),
        7: (mirrored_y, mirrored_x),
        8: (y, mirrored_x),
    }[orientation]
    return Box(xmin, ymin, xmax, ymax)


def hull(box: Box, degrees: float) -> Box:
    """The upright box around one that was rotated about its centre, clockwise as y points down."""
    angle = math.radians(degrees)
    x, y = (box.xmin + box.xmax) / 2, (box.ymin + box.ymax) / 2
    wide, high = (box.xmax - box.xmin) / 2, (box.ymax - box.ymin) / 2
    across = abs(wide * math.cos(angle)) + abs(high * math.sin(angle))
    down = abs(wide * math.sin(angle)) + abs(high * math.cos(angle))
    return Box(x - across, y - down, x + across, y + down)


def around(points: Iterable[Tuple[float, float]]) -> Box:
    """The box around points.

    Raises:
        ValueError: there are none.
    """
    points = list(points)
    if not points:
        raise ValueError("a shape has no points")
    across, down = [x for x, _ in points], [y for _, y in points]
    return Box(min(across), min(down), max(across), max(down))
