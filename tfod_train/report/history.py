"""What a run left behind, read into one value: how it ended, its steps, its evaluations. No TensorFlow."""

import datetime
import json
import math
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional

from common.errors import Refused
from common.json_files import read_json
from tfod_train.run import evaluations
from tfod_train.run import run_dir as runs

NUMBERS = ("loss", "learning_rate", "images_per_sec", "input_wait_secs", "time")
RUNNING = "running"
GOOD, BAD, OPEN = "good", "bad", "open"
# By the outcome in run.json: what to say of it, and its colour.
OUTCOMES = {
    "finished": ("Finished", GOOD),
    "stopped early": ("Stopped early", GOOD),
    "stopped": ("Stopped", OPEN),
    "diverged": ("Diverged", BAD),
    "stalled": ("Stalled", BAD),
    "failed": ("Failed", BAD),
    "refused": ("Ended by an error", BAD),
}


class Record(NamedTuple):
    """A line of metrics.jsonl; None where it has no number.

    gpus: list of (percent, MiB), each may be None. losses: the parts of the loss by name.
    """

    step: int
    loss: Optional[float]
    learning_rate: Optional[float]
    images_per_sec: Optional[float]
    input_wait_secs: Optional[float]
    time: Optional[float]
    gpus: List[Any]
    losses: Dict[str, float]


class Story(NamedTuple):
    """What a run left behind.

    manifest: run.json. records: of metrics.jsonl, steps ascending. unreadable: lines of it that are none.
    evaluations: entries of eval/metrics.json, steps ascending. best: the entry whose checkpoint is kept, None
    without one. running: a training holds the lock. drawing: PNG bytes of example pictures, b"" without;
    drawn_step: their step.
    """

    folder: str
    manifest: Dict[str, Any]
    records: List[Record]
    unreadable: int
    evaluations: List[Dict[str, Any]]
    best: Optional[Dict[str, Any]]
    running: bool
    drawing: bytes
    drawn_step: Optional[int]


def read(run_dir):
    """The Story of a run. Raises Refused."""
    told = read_json(os.path.join(run_dir, runs.MANIFEST))
    if not isinstance(told, dict):
        raise Refused(f"{run_dir} holds no run (no {runs.MANIFEST} in it).", "Name the folder of a run.")
    records, unreadable = _records(os.path.join(run_dir, runs.METRICS))
    measured = read_json(os.path.join(run_dir, evaluations.FOLDER, evaluations.METRICS)) or {}
    entries = measured.get("evaluations", [])
    best = [entry for entry in entries if entry["step"] == measured.get("best_step")]
    drawing, step = _drawing(os.path.join(run_dir, evaluations.FOLDER), best, entries)
    return Story(
        run_dir,
        told,
        records,
        unreadable,
        sorted(entries, key=lambda entry: entry["step"]),
        best[0] if best else None,
        runs.RunDir(run_dir).is_training(),
        drawing,
        step,
    )


def _drawing(folder, best, entries):
    """(PNG bytes, step) of the best evaluation's example pictures, else of the last one's."""
    for name, drawn in ((evaluations.BEST_DRAWING, best), (evaluations.DRAWING, entries[-1:])):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
        except FileNotFoundError:
            continue
        if drawn:
            return content, drawn[0]["step"]
    return b"", None


def _records(path):
    """(list of Record, how many lines are none). Where a training was gone on with, what it repeated counts once.

    A killed process may leave half a line at the end.
    """
    found, unreadable = [], 0
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                record = _record(line)
                if record is None:
                    unreadable += 1
                    continue
                while found and found[-1].step >= record.step:
                    found.pop()
                found.append(record)
    except FileNotFoundError:
        pass
    return found, unreadable


def _record(line):
    try:
        told = json.loads(line)
        step = number(told["step"])
    except (ValueError, TypeError, KeyError):
        return None
    gpus = told.get("gpus")
    gpus = (
        [(number(gpu.get("percent")), number(gpu.get("memory_mib"))) for gpu in gpus if isinstance(gpu, dict)]
        if isinstance(gpus, list)
        else []
    )
    losses = told.get("losses")
    losses = {name: number(value) for name, value in losses.items()} if isinstance(losses, dict) else {}
    return (
        None
        if step is None
        else Record(int(step), *[number(told.get(name)) for name in NUMBERS], gpus=gpus, losses=losses)
    )


def number(value):
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_one else None


def outcome(story):
    """(what to say, GOOD, BAD or OPEN) of how the run ended."""
    told = str(story.manifest.get("outcome", ""))
    if told == RUNNING:
        return ("Running", OPEN) if story.running else ("Killed", BAD)
    return OUTCOMES.get(told, (told or "Unknown", OPEN))


def last_step(story):
    steps = [story.manifest.get("step")] + [record.step for record in story.records[-1:]]
    steps = [step for step in steps if isinstance(step, int)]
    return max(steps) if steps else None


def wait_shares(story):
    """Percent of a step's time that it waits for its input, of each record; None where it is not known."""
    batch = config_value(story.manifest, "batch_size")
    return [
        min(100.0, 100 * record.input_wait_secs * record.images_per_sec / batch)
        if batch and record.input_wait_secs is not None and record.images_per_sec
        else None
        for record in story.records
    ]


def all_starts(told):
    return [start for start in told.get("earlier") or [] if isinstance(start, dict)] + [told]


def secs(start):
    began, ended = time_of(start.get("started")), time_of(start.get("ended"))
    return (ended - began).total_seconds() if began and ended else None


def time_of(text):
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")
    except (TypeError, ValueError):
        return None


def field(told, *names):
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told


def extractor(told):
    """The feature extractor's type in the effective config."""
    match = re.search(r'feature_extractor \{\s*type: "([^"]*)"', "\n".join(map(str, told.get("config") or [])))
    return match and match.group(1)


def config_value(told, name):
    """An integer of the effective config's train_config; None where there is none."""
    inside = False
    for line in map(str, told.get("config") or []):
        if not line.startswith(" "):
            inside = line.startswith("train_config {")
        match = re.match(r"  %s: (\d+)$" % name, line)
        if inside and match:
            return int(match.group(1))
    return None
