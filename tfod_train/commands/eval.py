"""entrypoint.py eval: evaluates checkpoints of a run, and writes its report after each."""

from typing import List

from common.errors import refuse_arguments
from tfod_train.evaluation import checkpoint_loop
from tfod_train.process.console import Console
from tfod_train.process.signals import StopRequest
from tfod_train.report import page
from tfod_train.settings import Settings


def evaluate(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Evaluates checkpoints of RUN_DIR as EVAL_MODE says; each at most once. Returns the exit code, 0."""
    refuse_arguments("eval", arguments)
    StopRequest(console.say_from_signal, kept="finished evaluations are kept").install()
    checkpoint_loop.run(settings, console, lambda run_dir: page.try_write(run_dir, console))
    return 0
