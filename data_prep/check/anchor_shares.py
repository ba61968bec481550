"""The share of each class's boxes that an anchor of the config fits, gathered image by image."""

import collections
from typing import Counter, Hashable, Iterator, List, Optional, Sequence, Tuple

from data_prep.check import model_input

_CLASSES_KEPT = 10000


class AnchorShares:
    """Counts boxes and those with an anchor, by class; without a config, or with anchors unknown, nothing."""

    def __init__(self, config: Optional[model_input.Facts]):
        self._config = config
        self._boxes: Counter[Hashable] = collections.Counter()
        self._fitted: Counter[Hashable] = collections.Counter()
        self._unknown = False

    def see(
        self,
        boxes: Sequence[Tuple[float, float, float, float]],
        classes: Sequence[Optional[Hashable]],
        size: Tuple[float, float],
    ) -> None:
        """Counts the objects of an image.

        Args:
            boxes: (xmin, ymin, xmax, ymax) each, as shares of the image's sides.
            classes: of the boxes; None for one that the API drops.
            size: (width, height) of the model's input, px.
        """
        if self._config is None or not boxes:
            return
        width, height = (max(1, int(round(side))) for side in size)
        grids = self._config.anchors(width, height)
        if grids is None:
            self._unknown = True
            return
        # NumPy is needed by a check with a config alone.
        from data_prep.anchors import fit

        # Boxes that are none are errors of their own, and no matter of anchors.
        sound = [
            (kind, box)
            for kind, box in zip(classes, boxes)
            if kind is not None and 0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1
        ]
        scaled = [(box[0] * width, box[1] * height, box[2] * width, box[3] * height) for _, box in sound]
        for (kind, _), iou in zip(sound, fit.best_ious(scaled, grids)):
            if kind in self._boxes or len(self._boxes) < _CLASSES_KEPT:
                self._boxes[kind] += 1
                self._fitted[kind] += int(iou >= fit.MATCHED)

    def low(self) -> Iterator[Tuple[Hashable, str]]:
        """(class, what was found) of the classes that the anchors do not fit, the worst first."""
        if not self._boxes:
            return
        from data_prep.anchors import fit

        shares = sorted((self._fitted[kind] / count, str(kind), kind) for kind, count in self._boxes.items())
        for share, _, kind in shares:
            if share < fit.LOW_SHARE:
                yield (
                    kind,
                    f"{share:.0%} of its boxes have an anchor of IoU {fit.MATCHED} or more "
                    f"({self._fitted[kind]} of {self._boxes[kind]})",
                )

    def notes(self) -> List[str]:
        """What was not looked at."""
        if not self._unknown:
            return []
        return ["Whether anchors fit the boxes was not looked at: those of this model are not in its config alone."]
