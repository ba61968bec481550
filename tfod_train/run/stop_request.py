"""Early stopping: an evaluation asks for it by a file in RUN_DIR; the training looks for it when it has saved."""

import contextlib
import os
from typing import List, Optional

from common.json_files import read_json, write_json
from tfod_train.run.run_dir import RunDir


def without_improvement(steps: List[int], best_step: int, start_step: int) -> int:
    """How many of the evaluated steps came after the best one and after the training's start.

    A training that is resumed has the patience again: what was evaluated before its start does not count.
    """
    return len([step for step in steps if step > max(best_step, start_step)])


def ask(run_dir: RunDir, why: str) -> None:
    """Asks the training in run_dir to stop at its next checkpoint; `why` is a clause for people."""
    write_json(run_dir.stop_request, {"why": why})


def reason(run_dir: RunDir) -> Optional[str]:
    """Why the training was asked to stop; None where it was not."""
    asked = read_json(run_dir.stop_request)
    return asked and asked["why"]


def withdraw(run_dir: RunDir) -> None:
    """A training that starts forgets what the one before was asked."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(run_dir.stop_request)
