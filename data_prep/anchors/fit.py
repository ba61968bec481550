"""How well the best anchor fits each box: what a class is trained by."""

from typing import Any, List, Sequence, Tuple

import numpy as np

from data_prep.anchors.grids import Grid

# The matched_threshold of the API's SSDs: a box and an anchor that overlap so much belong together.
MATCHED = 0.5
# Of a class with a smaller share of boxes that have an anchor, little is learned: the rest are matched by force, each
# to one anchor of another place or shape.
LOW_SHARE = 0.25


def best_ious(boxes: Sequence[Tuple[float, float, float, float]], grids: List[Grid]) -> Any:
    """The IoU of each box with the anchor that fits it best.

    With the shapes given, the IoU is largest where the centres are nearest, along x and along y.

    Args:
        boxes: (xmin, ymin, xmax, ymax) each, in px of the model's input.
        grids: of grids.of_model.

    Returns:
        float array [boxes]; 0 where there is no anchor, or the box is none.
    """
    sides = np.asarray(boxes, dtype=float).reshape(-1, 4)
    if not len(sides) or not grids:
        return np.zeros(len(sides))
    overlaps, areas, sizes = [], [], []
    for axis in (0, 1):
        size, first, step, count = (np.array([part[axis] for part in parts], dtype=float) for parts in zip(*grids))
        low, high = sides[:, axis, None], sides[:, axis + 2, None]
        place = np.clip(np.rint(((low + high) / 2 - first) / step), 0, count - 1)
        centre = first + place * step
        overlaps.append(np.clip(np.minimum(high, centre + size / 2) - np.maximum(low, centre - size / 2), 0, None))
        areas.append(high - low)
        sizes.append(size)
    both = overlaps[0] * overlaps[1]
    union = areas[0] * areas[1] + sizes[0] * sizes[1] - both
    ious = np.where(union > 0, both / np.where(union > 0, union, 1), 0)
    return ious.max(axis=1)
