"""What a dataset and a machine decide of a config, each with its reason."""

import math
import os
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from common.text import counted, printable
from tfod_train.checkpoints import model_zoo
from tfod_train.config.dataset import Dataset
from tfod_train.fitted_config import anchors
from tfod_train.fitted_config.anchors import Choice
from tfod_train.fitted_config.boxes import Sample
from tfod_train.fitted_config.models import Model

CLASSES_SHOWN = 30
# COCO's metrics look at a hundred detections of an image.
COCO_DETECTIONS = 100
BATCH = {"small": 16, "ssd": 24, "faster_rcnn": 1}
# Names of classes that a mirror makes wrong: sides, and what can be read.
_MIRRORED_WRONG = re.compile(r"(?i)(^|[^a-z])(left|right|west|east)([^a-z]|$)|^[a-z0-9]$|(^|[^a-z])(letter|digit|text)")


class Anchors(NamedTuple):
    """Served is (class, boxes, share before, share here) each, the shares as texts."""

    fitted: Choice
    served: List[Tuple[str, int, str, str]]
    more: int
    reason: str


class Schedule(NamedTuple):
    """checkpoint: path of a checkpoint of the model zoo, None for a training from scratch."""

    batch: int
    steps: int
    rate: float
    decay: float
    checkpoint: Optional[str]
    steps_reason: str
    checkpoint_reason: str


class Choices(NamedTuple):
    """All that the template fills in. flip: whether images are mirrored. reasons: a sentence by name."""

    classes: int
    anchors: Anchors
    size: Tuple[int, int]
    detections: int
    flip: bool
    schedule: Schedule
    reasons: Dict[str, str]


def make(model: Model, dataset: Dataset, sample: Sample, data_dir: str) -> Choices:
    """The Choices for a dataset whose boxes were sampled."""
    fitted = anchors.choose(model, sample)
    detections, why_detections = _detections(dataset.most_boxes)
    flip, why_flip = _flip(dataset.classes)
    return Choices(
        classes=dataset.description["num_classes"],
        anchors=_anchors(model, fitted, sample),
        size=fitted.size,
        detections=detections,
        flip=flip,
        schedule=_schedule(model, dataset.examples("train"), data_dir),
        reasons={"size": _size(model, fitted, sample), "detections": why_detections, "flip": why_flip},
    )


def _anchors(model, fitted, sample):
    before, boxes = anchors.usual(model, sample), sample.boxes_by_class()
    names = sorted(sample.names, key=lambda name: (fitted.shares[name], name))
    rows = [(printable(name, 40), boxes[name], f"{before[name]:.0%}", f"{fitted.shares[name]:.0%}") for name in names]
    low = [printable(name, 40) for name in names if round(fitted.shares[name], 2) < anchors.SERVED]
    reason = "Fitted to the boxes: every class has its anchors."
    if not rows:
        reason = "Nothing could be fitted: no box was found in the images looked at."
    elif low:
        reason = (
            f"Fitted to the boxes, and still short for {', '.join(low[:5])}: the finest map of this model is too "
            "coarse for them. MODEL=ssd_resnet50_fpn has a finer one; tiles cut from the images help any model."
        )
    return Anchors(fitted, rows[:CLASSES_SHOWN], max(0, len(rows) - CLASSES_SHOWN), reason)


def _size(model, fitted, sample):
    if fitted.pyramid.kind == "grid":
        return "The images keep their proportions: the shorter side becomes 600 px, the longer one 1024 at most."
    width, height = fitted.size
    usual = model.usual_size[0] * model.usual_size[1]
    proportions = "in the images' usual proportions"
    if width * height <= 1.1 * usual:
        return f"{width} x {height} px, {proportions}: the smallest that serves the boxes, and so the fastest."
    times = width * height / usual
    return (
        f"{width} x {height} px, {proportions}: {times:.1f} times the pixels, and about that of the time, of the usual "
        f"{model.usual_size[0]} x {model.usual_size[1]}, at which the smallest class has too few cells or anchors."
    )


def _detections(most_boxes):
    needed = int(math.ceil(most_boxes * 1.5 / 10.0)) * 10
    if needed <= COCO_DETECTIONS:
        return COCO_DETECTIONS, (
            f"As many as COCO's metrics look at; the fullest image has {counted(most_boxes, 'box', 'boxes')}."
        )
    return needed, (
        f"Half as many again as the fullest image's {most_boxes} boxes. COCO's metrics look at the best "
        f"{COCO_DETECTIONS} of an image, so that such an image cannot score full marks."
    )


def _flip(classes):
    wrong = [printable(str(name), 40) for name in classes if _MIRRORED_WRONG.search(str(name))]
    if wrong:
        return False, f"No mirror images: they would make {', '.join(wrong[:3])} wrong. Take this out if they do not."
    return True, "Mirror images double the data. Take it out where left and right differ (signs, letters)."


def _schedule(model, images, data_dir):
    kind = "small" if model.small else "ssd" if model.template == "ssd.config" else "faster_rcnn"
    batch = BATCH[kind]
    zoo = model_zoo.find(model.zoo) if model.zoo else None
    path = model_zoo.checkpoint(zoo, data_dir) if zoo else None
    found = path is not None and os.path.exists(path + ".index")
    steps, why = _steps(kind, found, images, batch)
    return Schedule(
        batch=batch,
        steps=steps,
        rate={"small": 0.004, "ssd": 0.004, "faster_rcnn": 0.0003}[kind],
        decay=round(1 - 1 / min(max(steps / 10.0, 10.0), 10000.0), 4),
        checkpoint=path if found else None,
        steps_reason=why,
        checkpoint_reason=_checkpoint_reason(model, found, _steps(kind, True, images, batch)[0]),
    )


def _steps(kind, pretrained, images, batch):
    """(steps, reason): so many times through the images, in bounds."""
    epochs, least, most = {
        ("small", True): (50, 500, 20000),
        ("small", False): (50, 500, 20000),
        ("ssd", True): (80, 4000, 60000),
        ("ssd", False): (200, 20000, 200000),
        ("faster_rcnn", True): (20, 10000, 200000),
        ("faster_rcnn", False): (60, 40000, 600000),
    }[(kind, pretrained)]
    steps = min(max(int(math.ceil(epochs * images / batch / 100.0)) * 100, least), most)
    times = steps * batch / max(images, 1)
    return (
        steps,
        f"{counted(images, 'image')} about {times:.0f} times. Evaluations beside it (make eval) tell when more bring "
        "nothing.",
    )


def _checkpoint_reason(model, found, steps):
    if model.zoo is None:
        return "From scratch: the model zoo has no checkpoint of so small a model."
    name = model_zoo.short_name(model.zoo)
    if found:
        return f"{name} of the model zoo, which was there. Its class head is of other classes and starts anew."
    return (
        f"From scratch, since {name} of the model zoo was not there; that needs many more steps and learns less. "
        f"FINE_TUNE_CHECKPOINT={name} fetches it; num_steps: {steps} is then enough."
    )
