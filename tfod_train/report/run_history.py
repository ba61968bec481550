"""What a run left behind, read into one value: how it ended, its steps, its evaluations. No TensorFlow."""

import datetime
import json
import math
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from common.errors import Refused
from common.json_files import read_json
from tfod_train.config import pipeline
from tfod_train.run.run_dir import MANIFEST, RunDir

NUMBERS = ("loss", "learning_rate", "images_per_sec", "input_wait_secs", "time")
RUNNING = "running"
GOOD, BAD, OPEN = "good", "bad", "open"
# By the outcome in run.json: the words for it, and its colour.
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


class RunHistory(NamedTuple):
    """What a run left behind.

    manifest: run.json. config: the effective TrainEvalPipelineConfig in it, None where it cannot be read. records: of
    metrics.jsonl, steps ascending. unreadable: lines of it that are none. evaluations: entries of eval/metrics.json,
    steps ascending. best: the entry whose checkpoint is kept, None without one. running: a training holds the lock.
    drawing: PNG bytes of example images, b"" without; drawn_step: their step. tested: the newest entry of
    eval/test_metrics.json, None without one.
    """

    folder: str
    manifest: Dict[str, Any]
    config: Any
    records: List[Record]
    unreadable: int
    evaluations: List[Dict[str, Any]]
    best: Optional[Dict[str, Any]]
    running: bool
    drawing: bytes
    drawn_step: Optional[int]
    tested: Optional[Dict[str, Any]] = None


def read(run_dir: Union[str, RunDir]) -> RunHistory:
    """The RunHistory of a run.

    Raises:
        Refused: there is no run, or a file of it is damaged.
    """
    folder = RunDir(run_dir)
    manifest = read_json(folder.manifest)
    if not isinstance(manifest, dict):
        raise Refused(f"{run_dir} holds no run (no {MANIFEST} in it).", "Name the folder of a run.")
    records, unreadable = _records(folder.metrics)
    measured = read_json(folder.evaluations.metrics) or {}
    entries = measured.get("evaluations", [])
    best = [entry for entry in entries if entry["step"] == measured.get("best_step")]
    drawing, step = _drawing(folder.evaluations, best, entries)
    return RunHistory(
        folder.path,
        manifest,
        pipeline.from_lines(manifest.get("config")),
        records,
        unreadable,
        sorted(entries, key=lambda entry: entry["step"]),
        best[0] if best else None,
        folder.is_training(),
        drawing,
        step,
        _newest((read_json(folder.evaluations.test_metrics) or {}).get("evaluations", [])),
    )


def _newest(entries):
    return max(entries, key=lambda entry: entry["time"]) if entries else None


def _drawing(evaluations, best, entries):
    """(PNG bytes, step) of the best evaluation's example images, else of the last one's."""
    for path, drawn in ((evaluations.best_detections, best), (evaluations.detections, entries[-1:])):
        try:
            with open(path, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            continue
        if drawn:
            return content, drawn[0]["step"]
    return b"", None


def _records(path):
    """(list of Record, how many lines are none). Where a training was resumed, what it repeated counts once.

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
        values = json.loads(line)
        step = number(values["step"])
    except (ValueError, TypeError, KeyError):
        return None
    if step is None:
        return None
    numbers = {name: number(values.get(name)) for name in NUMBERS}
    return Record(step=int(step), gpus=_gpus(values.get("gpus")), losses=_losses(values.get("losses")), **numbers)


def _gpus(found):
    if not isinstance(found, list):
        return []
    return [(number(gpu.get("percent")), number(gpu.get("memory_mib"))) for gpu in found if isinstance(gpu, dict)]


def _losses(found):
    return {name: number(value) for name, value in found.items()} if isinstance(found, dict) else {}


def number(value: Any) -> Any:
    """The value where it is a finite number, else None."""
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_one else None


def outcome(history: RunHistory) -> Tuple[str, str]:
    """(the outcome in words, GOOD, BAD or OPEN) of a run."""
    written = str(history.manifest.get("outcome", ""))
    if written == RUNNING:
        return ("Running", OPEN) if history.running else ("Killed", BAD)
    return OUTCOMES.get(written, (written or "Unknown", OPEN))


def last_step(history: RunHistory) -> Optional[int]:
    """The step that the run came to; None where that was not written down."""
    candidates = [history.manifest.get("step")] + [record.step for record in history.records[-1:]]
    steps = [step for step in candidates if isinstance(step, int)]
    return max(steps) if steps else None


def wait_shares(history: RunHistory) -> List[Optional[float]]:
    """Percent of a step's time that it waits for its input, of each record; None where it is not known."""
    batch = config_value(history, "batch_size")
    return [
        min(100.0, 100 * record.input_wait_secs * record.images_per_sec / batch)
        if batch and record.input_wait_secs is not None and record.images_per_sec
        else None
        for record in history.records
    ]


def all_starts(manifest: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What run.json holds of each start in the folder, the last one's at the end."""
    return [start for start in manifest.get("earlier") or [] if isinstance(start, dict)] + [manifest]


def secs(start: Dict[str, Any]) -> Optional[float]:
    """How long a start took; None where its end was not written down."""
    began, ended = time_of(start.get("started")), time_of(start.get("ended"))
    return (ended - began).total_seconds() if began and ended else None


def time_of(text: Any) -> Optional[datetime.datetime]:
    """A time of run.json; None where it is none."""
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")
    except (TypeError, ValueError):
        return None


def field(value: Any, *names: str) -> Any:
    """What a value of JSON holds under names within names; None where there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def extractor(history: RunHistory) -> Optional[str]:
    """The feature extractor's type in the effective config."""
    if history.config is None or not history.config.model.WhichOneof("model"):
        return None
    return pipeline.model_of(history.config).feature_extractor.type or None


def config_value(history: RunHistory, name: str) -> Optional[int]:
    """A number of the effective config's train_config; None where it says none."""
    if history.config is None or not history.config.train_config.HasField(name):
        return None
    return getattr(history.config.train_config, name)
