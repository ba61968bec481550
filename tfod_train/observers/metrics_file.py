"""metrics.jsonl: a line every few seconds, and one of the last step."""

import json
from typing import Any, Dict, Optional

from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.training import Training

EVERY_SECS = 5
# What TensorBoard's tags begin with (tfod_train/hooks/summaries.py).
LOSSES, LEARNING_RATE = "Losses/", "LearningRate/"


class MetricsFile(StepObserver):
    def __init__(self, training: Training):
        self._path = training.run.run_dir.metrics
        self._speed = training.speed
        self._written_at = 0.0
        self._last: Optional[StepResult] = None

    def on_begin(self, step: int) -> None:
        _end_the_last_line(self._path)

    def on_step(self, result: StepResult) -> None:
        self._last = result
        if result.ended - self._written_at >= EVERY_SECS:
            self._write(result)

    def on_end(self) -> None:
        if self._last is not None:
            self._write(self._last)

    def _write(self, result):
        self._written_at = result.ended
        with open(self._path, "a") as metrics:
            metrics.write(json.dumps(self._record(result)) + "\n")

    def _record(self, result):
        rate, waited = self._speed.images_per_sec(), self._speed.input_wait_secs()
        record: Dict[str, Any] = {
            "step": result.step,
            "loss": round(result.loss, 6),
            "time": round(result.ended, 3),
            "images_per_sec": rate and round(rate, 2),
            "input_wait_secs": None if waited is None else round(waited, 6),
        }
        for tag, value in sorted(result.scalars.items()):
            # Not rounded to a number of places: learning rates are small.
            if tag.startswith(LEARNING_RATE):
                record["learning_rate"] = float(f"{value:.6g}")
            else:
                record.setdefault("losses", {})[tag[len(LOSSES) :]] = float(f"{value:.6g}")
        uses = self._speed.gpu_uses()
        if uses:
            record["gpus"] = [
                {"percent": use.percent and round(use.percent, 1), "memory_mib": use.memory_mib} for use in uses
            ]
        return record


def _end_the_last_line(path):
    """A process killed while writing leaves half a line, to which the next record must not be appended."""
    try:
        with open(path, "r+b") as metrics:
            content = metrics.read()
            metrics.truncate(content.rfind(b"\n") + 1)
    except FileNotFoundError:
        pass
