"""The best anchor of a box is found as by comparing it with every anchor."""

import numpy as np

from data_prep.anchors import fit
from data_prep.anchors.grids import Grid

GRIDS = [
    Grid((20.0, 20.0), (8.0, 8.0), (16.0, 16.0), (6, 4)),
    Grid((50.0, 25.0), (16.0, 16.0), (32.0, 32.0), (3, 2)),
    Grid((6.0, 12.0), (8.0, 8.0), (16.0, 16.0), (6, 4)),
]


def iou(one, other):
    width, height = (min(one[axis + 2], other[axis + 2]) - max(one[axis], other[axis]) for axis in (0, 1))
    both = max(width, 0) * max(height, 0)
    return both / ((one[2] - one[0]) * (one[3] - one[1]) + (other[2] - other[0]) * (other[3] - other[1]) - both)


def anchors():
    for (width, height), first, step, count in GRIDS:
        for x in (first[0] + n * step[0] for n in range(count[0])):
            for y in (first[1] + n * step[1] for n in range(count[1])):
                yield (x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def test_it_is_the_best_of_all_anchors():
    random = np.random.RandomState(1)
    corners = random.uniform(0, 60, (200, 2))
    boxes = [tuple(low) + tuple(low + sides) for low, sides in zip(corners, random.uniform(2, 36, (200, 2)))]
    best = [max(iou(box, anchor) for anchor in anchors()) for box in boxes]
    np.testing.assert_allclose(fit.best_ious(boxes, GRIDS), best, atol=1e-9)
    assert min(best) < fit.MATCHED < max(best)


def test_without_boxes_or_anchors_there_is_none():
    assert fit.best_ious([], GRIDS).tolist() == [] and fit.best_ious([(0, 0, 4, 4)], []).tolist() == [0]
