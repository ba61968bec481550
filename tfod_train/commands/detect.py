"""entrypoint.py detect: draws what an exported model finds on images. It needs the export and no run."""

import argparse
import functools
import io
import os
import time
from typing import List

import numpy as np

from common import files, ownership
from common.errors import PREFLIGHT_FAILED, Refused
from common.json_files import write_json
from tfod_train.devices import devices as device_choice
from tfod_train.export.export import FROZEN, LABEL_MAP
from tfod_train.process.console import Console, duration
from tfod_train.process.signals import StopRequest
from tfod_train.settings import Settings

RESULTS = "detections.json"
LOG = "detect.log"


def detect(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Draws boxes and masks on images and writes them down in detections.json; see docs/export.md.

    Returns:
        exit code: 0, or 3 where an image could not be used.

    Raises:
        Refused: the export cannot be read, --out cannot be written, or an image would be drawn over.
    """
    asked = _arguments(arguments)
    StopRequest(console.say_from_signal).install()
    for name in (FROZEN, LABEL_MAP):
        if not os.path.isfile(os.path.join(asked.model, name)):
            raise Refused(
                f"{asked.model} is not the folder of an export (no {name} in it).",
                "Name what `entrypoint.py export` made, RUN_DIR/export/STEP by default.",
            )
    targets = _targets(asked.images, asked.out)
    try:
        os.makedirs(asked.out, exist_ok=True)
        _claim(asked.out, targets)
        console.capture(os.path.join(asked.out, LOG), debug=settings.log_level.value == "debug")
    except OSError as error:
        raise Refused(
            f"{asked.out} cannot be written: {error.strerror}.", "Name another folder with --out.", PREFLIGHT_FAILED
        ) from error
    model, names = _load(asked.model)
    began, done, failed = time.time(), [], []
    for image, target in zip(asked.images, targets):
        try:
            done.append(_detect(model, names, image, target, asked.min_score))
        except ValueError as why:
            failed.append({"file": image, "why": str(why)})
        console.progress(len(done) + len(failed), len(targets), "", "image")
    console.end_progress()
    write_json(
        os.path.join(asked.out, RESULTS),
        {"model": os.path.abspath(asked.model), "min_score": asked.min_score, "pictures": done, "failed": failed},
    )
    for one in failed:
        console.error(f"{one['file']}: {one['why']}.")
    objects = sum(len(one["detections"]) for one in done)
    unusable = f"; {len(failed)} could not be used" if failed else ""
    console.say(
        f"Drew {objects} objects with a score of {asked.min_score:.2g} and more on {len(done)} images into "
        f"{asked.out}, in {duration(time.time() - began)} on the CPU{unusable}."
    )
    return PREFLIGHT_FAILED if failed else 0


def _arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="entrypoint.py detect",
        description="Draws what an exported model finds on images, and writes detections.json beside them.",
    )
    parser.add_argument("--model", metavar="DIR", required=True, help="a folder that `entrypoint.py export` made")
    parser.add_argument(
        "--out", metavar="DIR", default="detections", help="where the drawn images go; default %(default)s"
    )
    parser.add_argument("--min-score", metavar="SCORE", type=float, default=0.5, help="0 to 1; default %(default)s")
    parser.add_argument("images", metavar="IMAGES", nargs="+", help="images of any format that Pillow reads")
    asked = parser.parse_args(arguments)
    if not 0 <= asked.min_score <= 1:
        parser.error(f"--min-score is between 0 and 1, and not {asked.min_score:g}")
    return asked


def _targets(images, out):
    """Where each drawn image goes: NAME.jpg where it was one, else NAME.png; with a number where that is taken."""
    targets = []
    for image in images:
        stem, ending = os.path.splitext(os.path.basename(image))
        ending = ".jpg" if ending.lower() in (".jpg", ".jpeg") else ".png"
        number, target = 1, os.path.join(out, stem + ending)
        while target in targets:
            number += 1
            target = os.path.join(out, f"{stem}-{number}{ending}")
        targets.append(target)
    for image in images:
        written = [
            target
            for target in targets
            if os.path.exists(image) and os.path.exists(target) and os.path.samefile(image, target)
        ]
        if written:
            raise Refused(f"{image} would be drawn over.", "Name another folder with --out.")
    return targets


def _claim(out, targets):
    """Sees that nobody else's files are in --out, and writes down what is going to be there."""
    description = ownership.read_object(os.path.join(out, RESULTS))
    known = set()
    if {"model", "min_score", "failed"} <= set(description):  # of a detect, also of one that kept no list yet
        drawn = [one.get("drawn") for one in description.get("pictures") or () if isinstance(one, dict)]
        known = {RESULTS, LOG} | {os.path.basename(name) for name in drawn if isinstance(name, str)}
    ownership.refuse_foreign(out, known)
    ownership.claim(out, [RESULTS, LOG] + [os.path.basename(target) for target in targets], known)


def _load(folder):
    """(inference.FrozenGraph, class names by id) of an export."""
    device_choice.hide_the_rest(device_choice.Devices("cpu", 1, "-1", ("/cpu:0",)))
    from tfod_train.process.tensorflow_log import import_tensorflow

    import_tensorflow()
    from google.protobuf import text_format
    from object_detection.utils import label_map_util

    from tfod_train.export import inference

    path = os.path.join(folder, LABEL_MAP)
    try:
        categories = label_map_util.create_category_index_from_labelmap(path, use_display_name=True)
    # Where it is no text proto, the API tries it as bytes, and fails with a TypeError.
    except (text_format.ParseError, UnicodeDecodeError, TypeError, ValueError) as error:
        why = "it is no text proto" if isinstance(error, TypeError) else str(error).rstrip(".")
        raise Refused(
            f"{path} cannot be read as a label map: {why}.",
            "Export the model again, or take the label map of its dataset.",
        ) from error
    names = {class_id: category["name"] for class_id, category in categories.items()}
    return inference.FrozenGraph(os.path.join(folder, FROZEN)), names


def _detect(model, names, path, target, min_score):
    """Detects in one image and draws it; returns its entry for detections.json. Raises ValueError: unusable."""
    from tfod_train.evaluation import visualization

    image = _upright(path)
    found = model.detect(np.asarray(image))
    kept = found.take(found.scores >= min_score)
    sides = np.array([image.height, image.width] * 2)
    boxes = np.round(kept.boxes * sides, 1)
    labels = [names.get(class_id, f"class {class_id}") for class_id in kept.classes]
    masks = _masks(kept, (image.height, image.width))
    drawn = visualization.on_image(image, boxes, kept.scores, kept.classes, labels, masks)
    encoded = io.BytesIO()
    drawn.save(encoded, "JPEG" if target.endswith(".jpg") else "PNG", quality=95)
    files.write(target, encoded.getvalue())
    detections = [
        {
            "class": label,
            "id": int(class_id),
            "score": round(float(score), 4),
            "box_pixels": dict(zip(("ymin", "xmin", "ymax", "xmax"), map(float, box))),
        }
        for label, class_id, score, box in zip(labels, kept.classes, kept.scores, boxes)
    ]
    for detection, mask in zip(detections, () if masks is None else masks):
        detection["mask_rle"] = _run_lengths(mask)
    return {
        "file": path,
        "drawn": os.path.basename(target),
        "width": image.width,
        "height": image.height,
        "detections": detections,
    }


@functools.lru_cache(maxsize=None)
def _placing():
    from tfod_train.export import inference

    return inference.MasksInImage()


def _masks(found, size):
    """uint8 [n, height, width] of Detections in an image of that size; None where the model has no masks."""
    if found.masks is None:
        return None
    return _placing().place(found, size) if len(found.masks) else np.zeros((0,) + size, np.uint8)


def _run_lengths(mask):
    """A mask [height, width] as COCO's compressed run lengths, which pycocotools.mask.decode reads."""
    from pycocotools import mask as coco_masks

    encoded = coco_masks.encode(np.asfortranarray(mask))
    return {"size": [int(side) for side in encoded["size"]], "counts": encoded["counts"].decode("ascii")}


def _upright(path):
    """The image of a file as data_prep makes the records': upright, RGB. Raises ValueError."""
    from PIL import Image

    from data_prep.images import normalize

    try:
        with open(path, "rb") as file:
            return Image.open(io.BytesIO(normalize.load(file.read()).encoded)).convert("RGB")
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
