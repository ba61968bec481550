"""What the evaluations of a run leave in it: files, names of metrics, and which entry of metrics.json is which."""

import hashlib
import os
from typing import Any, Dict, Optional

FOLDER = "eval"
METRICS = "metrics.json"
DRAWING = "detections.png"
BEST_DRAWING = "best_detections.png"
TEST_METRICS = "test_metrics.json"
TEST_DRAWING = "test_detections.png"
MAP = "DetectionBoxes_Precision/mAP"
MAP50 = "DetectionBoxes_Precision/mAP@.50IOU"
MASK_MAP = "DetectionMasks_Precision/mAP"
MASK_MAP50 = "DetectionMasks_Precision/mAP@.50IOU"
# By class, in the entries of metrics.json: the name there, the OfClass's, the heading of the table.
PER_CLASS = (
    ("per_class_boxes", "boxes", "boxes"),
    ("per_class_ap50", "ap50", "AP@.5IOU"),
    ("per_class_ap", "ap", "COCO AP"),
    ("per_class_mask_ap", "mask_ap", "mask COCO AP"),
)


class EvaluationDir(object):
    """What the evaluations of a run leave in it: RUN_DIR/eval."""

    NAME = FOLDER

    def __init__(self, path: str):
        self.path = path

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    @property
    def metrics(self) -> str:
        """An entry of each evaluated checkpoint."""
        return os.path.join(self.path, METRICS)

    @property
    def log(self) -> str:
        """TensorFlow's own log of the evaluations."""
        return os.path.join(self.path, "eval.log")

    @property
    def lock(self) -> str:
        """Held while a checkpoint is evaluated: one evaluation at a time."""
        return os.path.join(self.path, ".lock")

    @property
    def detections(self) -> str:
        """What the checkpoint evaluated last finds on validation images."""
        return os.path.join(self.path, DRAWING)

    @property
    def best_detections(self) -> str:
        """The same of the best checkpoint."""
        return os.path.join(self.path, BEST_DRAWING)

    @property
    def test_metrics(self) -> str:
        """An entry of each checkpoint that was evaluated on the test split; nothing is chosen by it."""
        return os.path.join(self.path, TEST_METRICS)

    @property
    def test_detections(self) -> str:
        """What the checkpoint evaluated last finds on test images."""
        return os.path.join(self.path, TEST_DRAWING)

    @property
    def test_events(self) -> str:
        """TensorBoard's events of the test split, a run of their own."""
        return os.path.join(self.path, "test")

    @property
    def in_hand(self) -> str:
        """The checkpoint in hand lies here, so that the training may delete its own."""
        return os.path.join(self.path, ".in_hand")


def identity(checkpoint: str) -> Optional[str]:
    """What tells a checkpoint from another of the same step: its index holds the checksums of all values."""
    try:
        with open(checkpoint + ".index", "rb") as index:
            return hashlib.sha256(index.read()).hexdigest()
    except FileNotFoundError:
        return None


def done(metrics: Dict[str, Any], step: int, identity: Optional[str]) -> Optional[Dict[str, Any]]:
    """The entry of a checkpoint that was evaluated; None where it was not."""
    found = [
        entry
        for entry in metrics["evaluations"]
        if entry["step"] == step and entry.get("checkpoint", identity) == identity
    ]
    return found[-1] if found else None


def best(metrics: Dict[str, Any]) -> Dict[str, Any]:
    """The entry with the highest COCO mAP, the earliest of equals; without a validation box there is no mAP."""
    return max(metrics["evaluations"], key=lambda entry: (entry["metrics"].get(MAP, -1), -entry["step"]))
