"""Are two lists of detections in one image the same, whatever their order?"""

from typing import Any, NamedTuple, Tuple

import numpy as np


class Detections(NamedTuple):
    """What a model finds in one image.

    boxes: float [n, 4], ymin, xmin, ymax, xmax as shares of the image's sides. scores: float [n].
    classes: int [n], ids of the label map. masks: float [n, height, width], the probability of being inside in each
    part of the box; None for a model that has none.
    """

    boxes: Any
    scores: Any
    classes: Any
    masks: Any = None

    def take(self, which: np.ndarray) -> "Detections":
        """The Detections at `which`: indices, or bool [n]."""
        return Detections(*(None if values is None else values[which] for values in self))


class Difference(NamedTuple):
    """boxes, scores, masks: the largest differences of matched coordinates, scores and probabilities in masks.

    matched, unmatched: how many detections have a match and none.
    """

    boxes: float
    scores: float
    matched: int
    unmatched: int
    masks: float = 0.0

    def and_of(self, other: "Difference") -> "Difference":
        """The Difference over both: of two images."""
        return Difference(
            max(self.boxes, other.boxes),
            max(self.scores, other.scores),
            self.matched + other.matched,
            self.unmatched + other.unmatched,
            max(self.masks, other.masks),
        )

    def within(self, boxes: float, scores: float, masks: float) -> bool:
        """Whether everything has a match that is as near as this; two empty lists are the same."""
        return self.unmatched == 0 and self.boxes <= boxes and self.scores <= scores and self.masks <= masks


NONE = Difference(0.0, 0.0, 0, 0)
NO_MASKS = 1.0  # apart as far as can be: one side has masks and the other has none


def difference(expected: Detections, found: Detections, near: float, tied: float, most: int) -> Difference:
    """Matches each detection with the nearest of its class, the best first, and says how far they are apart.

    By matching and not by rank: two scores that differ in the seventh digit change places without meaning. For the
    same reason a full list may end in others: of those without a match there, a tenth of the list is not counted,
    and what is not the same detection there has no match, however near.

    Args:
        expected, found: what two models find in one image.
        near: what is farther apart than this, in a coordinate or in the score, is no match.
        tied: scores this near to the lowest of a full list are its end, where matches are no farther apart than this.
        most: how many detections a full list has.

    Returns:
        how far they are apart; `unmatched` counts both sides.
    """
    free = np.ones(len(found.scores), bool)
    result, alone = NONE, []
    lowest = [one.scores.min() for one in (expected, found) if len(one.scores) >= most]
    end = max(lowest) + tied if lowest else -np.inf
    for index in _best_first(expected):
        box, score, class_id = expected.boxes[index], expected.scores[index], expected.classes[index]
        boxes_apart = np.abs(found.boxes - box).max(axis=1, initial=0)
        scores_apart = np.abs(found.scores - score)
        apart = np.where(free & (found.classes == class_id), np.maximum(boxes_apart, scores_apart), np.inf)
        nearest = int(apart.argmin()) if len(apart) else None
        if nearest is None or apart[nearest] > (tied if score <= end else near):
            alone.append(score)
            continue
        free[nearest] = False
        result = result.and_of(
            Difference(
                float(boxes_apart[nearest]),
                float(scores_apart[nearest]),
                1,
                0,
                _masks_apart(expected.masks, found.masks, index, nearest),
            )
        )
    alone = np.array(alone + list(found.scores[free]))
    at_the_end = int((alone <= end).sum())
    return result.and_of(Difference(0.0, 0.0, 0, len(alone) - min(at_the_end, most // 10)))


def found_again(
    expected: Detections, found: Detections, least_score: float, overlap: float, near: float
) -> Tuple[int, int]:
    """How many detections of a model a rounded one finds again.

    Args:
        expected, found: what the model and the rounded one find in one image.
        least_score: expected detections below are not looked for.
        overlap: intersection over union from which on two boxes of one class are the same object.
        near: how far apart their scores may be.

    Returns:
        (found again, looked for).
    """
    free = np.ones(len(found.scores), bool)
    again = wanted = 0
    for index in _best_first(expected):
        box, score, class_id = expected.boxes[index], expected.scores[index], expected.classes[index]
        if score < least_score:
            break
        wanted += 1
        overlaps = np.where(
            free & (found.classes == class_id) & (np.abs(found.scores - score) <= near), _overlaps(box, found.boxes), 0
        )
        if len(overlaps) and overlaps.max() >= overlap:
            free[overlaps.argmax()] = False
            again += 1
    return again, wanted


def _best_first(detections):
    return np.argsort(-detections.scores, kind="mergesort")


def _masks_apart(masks, others, index, nearest):
    if masks is None and others is None:
        return 0.0
    if masks is None or others is None or masks.shape[1:] != others.shape[1:]:
        return NO_MASKS
    return float(np.abs(masks[index] - others[nearest]).max())


def _overlaps(box, boxes):
    """Intersection over union of a box [4] with each of boxes [n, 4]."""
    sides = np.maximum(np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2]), 0)
    shared = sides.prod(axis=1)
    return shared / np.maximum(_areas(box) + _areas(boxes) - shared, 1e-12)


def _areas(boxes):
    """Of boxes [..., 4]: [...]."""
    return (boxes[..., 2:] - boxes[..., :2]).prod(axis=-1)
