"""entrypoint.py eval: evaluates checkpoints of a run, and writes its report after each."""

from typing import List

from common.errors import refuse_arguments
from tfod_train.config import override
from tfod_train.evaluation import checkpoint_loop, test_split
from tfod_train.process.console import Console
from tfod_train.process.signals import StopRequest
from tfod_train.report import page
from tfod_train.run.run_dir import RunDir
from tfod_train.settings import Settings


def evaluate(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Evaluates checkpoints of RUN_DIR as EVAL_MODE and SPLIT say; each at most once. Returns the exit code, 0."""
    refuse_arguments("eval", arguments)
    _say_what_is_not_used(settings, console)
    StopRequest(console.say_from_signal, kept="finished evaluations are kept").install()
    evaluation = test_split if settings.split.value == test_split.SPLIT else checkpoint_loop
    evaluation.run(settings, console, lambda run_dir: page.try_write(run_dir, console))
    return 0


def _say_what_is_not_used(settings, console):
    """A run is evaluated as it was trained; a part of a config that says otherwise must not be ignored in silence."""
    run_dir = RunDir.of(settings)
    if not (settings.config_override and run_dir.holds_a_config()):
        return
    differences = override.Override(settings.config_override).differs_from(run_dir.read_config())
    if differences:
        more = f" and {len(differences) - 1} more" if len(differences) > 1 else ""
        console.say(
            f"{override.NAME} is for training: {run_dir.config} is evaluated as it is ({differences[0]}{more})."
        )
