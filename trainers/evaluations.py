"""What the evaluations of a run leave in it: names of files and metrics, and which entry of metrics.json is which."""

import hashlib

FOLDER = "eval"
METRICS = "metrics.json"
DRAWING = "detections.png"
BEST_DRAWING = "best_detections.png"
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


def identity(checkpoint):
    """What tells a checkpoint from another of the same step: its index holds the checksums of all values."""
    try:
        with open(checkpoint + ".index", "rb") as index:
            return hashlib.sha256(index.read()).hexdigest()
    except FileNotFoundError:
        return None


def done(metrics, step, identity):
    """The entry of a checkpoint that was evaluated; None where it was not."""
    found = [
        entry
        for entry in metrics["evaluations"]
        if entry["step"] == step and entry.get("checkpoint", identity) == identity
    ]
    return found[-1] if found else None


def best(metrics):
    """The entry with the highest COCO mAP, the earliest of equals; without a validation box there is no mAP."""
    return max(metrics["evaluations"], key=lambda entry: (entry["metrics"].get(MAP, -1), -entry["step"]))
