"""Early stopping: an evaluation asks for it by a file in RUN_DIR; the training looks for it when it has saved."""

import contextlib
import os

from trainers.files import read_json, write_json

ASKED = "stop_early.json"


def without_improvement(steps, best_step, start_step):
    """How many of the evaluated steps came after the best one and after the training's start.

    A training that is gone on with has the patience again: what was evaluated before its start does not count.
    """
    return len([step for step in steps if step > max(best_step, start_step)])


def ask(run_dir, why):
    """Asks the training in run_dir to stop at its next checkpoint; `why` is a clause for people."""
    write_json(os.path.join(run_dir, ASKED), {"why": why})


def reason(run_dir):
    """Why the training was asked to stop; None where it was not."""
    asked = read_json(os.path.join(run_dir, ASKED))
    return asked and asked["why"]


def withdraw(run_dir):
    """A training that starts forgets what the one before was asked."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(run_dir, ASKED))
