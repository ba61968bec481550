"""entrypoint.py config: writes a pipeline config that fits a dataset."""

import argparse
import os
from typing import List

from common import files
from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from tfod_train.config import dataset as datasets
from tfod_train.fitted_config import models, source, write
from tfod_train.process.console import Console
from tfod_train.settings import Settings


def make(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Writes the config of --model for DATASET to --out, by default into the dataset's folder; returns the exit code.

    Raises:
        Refused: there is no such model or dataset, or another file of that name.
    """
    options = _parser().parse_args(arguments)
    name = options.model or models.DEFAULT[settings.device.value]
    models.find(name)  # before the dataset is read
    dataset = datasets.load(settings)
    path = options.out or os.path.join(dataset.folder, name + source.ENDING)
    written = write.text_for(dataset, name, settings.data_dir, path)
    _write(path, written.text.encode("utf-8"))
    console.table(_table(written))
    for sentence in _sentences(written):
        console.say(sentence)
    console.say(f"Config {path}. Train with it: DATASET={dataset.folder} PIPELINE_CONFIG={path} make train")
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="entrypoint.py config", allow_abbrev=False)
    parser.add_argument(
        "--model", default="", help=", ".join(f"{name} ({m.about})" for name, m in models.MODELS.items())
    )
    parser.add_argument("--out", default="", help="the file to write, by default MODEL.config in the dataset's folder")
    return parser


def _write(path, content):
    """A file of that name may be the user's own by now: it stays, unless it says the same."""
    if os.path.isdir(path):
        raise Refused(f"{path} is a folder.", "Name a file with --out (OUT=).", SETTINGS_REFUSED)
    if os.path.exists(path):
        if files.read(path) == content:
            return
        raise Refused(
            f"{path} is there and says something else; it may have been changed by hand.",
            "Name another file with --out (OUT=), or move it.",
            SETTINGS_REFUSED,
        )
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise Refused(f"{folder} is not a folder.", "Name a file in a folder that is there.", SETTINGS_REFUSED)
    try:
        files.write(path, content)
    except OSError as error:
        raise Refused(
            f"{path} cannot be written: {error.strerror}.", "Name another with --out (OUT=).", PREFLIGHT_FAILED
        ) from error


def _table(written):
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Boxes that have an anchor of IoU 0.5 or more")
    for name in ("class", "boxes", "usual anchors", "this config"):
        table.add_column(name, justify="left" if name == "class" else "right")
    for name, boxes, before, here in written.choices.anchors.served:
        table.add_row(Text(name), str(boxes), before, here)
    return table


def _sentences(written):
    chosen = written.choices
    return [
        f"{written.model}: {chosen.reasons['size']}",
        f"Anchors: {chosen.anchors.reason}",
        f"Detections of an image: {chosen.detections}. {chosen.reasons['detections']}",
        f"Augmentation: {chosen.reasons['flip']}",
        f"{chosen.schedule.steps} steps of {chosen.schedule.batch}: {chosen.schedule.steps_reason}",
        f"Checkpoint: {chosen.schedule.checkpoint_reason}",
    ]
