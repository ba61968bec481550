"""`entrypoint.py eval`: the report is written after each evaluation, and a signal keeps what is finished."""

import pytest

from common.errors import Refused
from tfod_train.commands import eval as command


@pytest.fixture
def done(monkeypatch):
    """What the command does, in order: evaluations are made up, and no signal is caught."""
    happened = []

    class StopRequest(object):
        def __init__(self, say, kept):
            self._kept = kept

        def install(self):
            happened.append(self._kept)

    class Console(object):
        say_from_signal = None

    def run(settings, console, after_each):
        for step in (2, 4):
            happened.append(f"{settings} step {step}")
            after_each("run")

    monkeypatch.setattr(command, "StopRequest", StopRequest)
    monkeypatch.setattr(command.checkpoint_loop, "run", run)
    monkeypatch.setattr(command.page, "try_write", lambda run_dir, console: happened.append(f"report of {run_dir}"))
    return lambda *arguments: (command.evaluate("settings", Console, list(arguments)), happened)


def test_each_evaluation_is_followed_by_its_report(done):
    assert done() == (
        0,
        ["finished evaluations are kept", "settings step 2", "report of run", "settings step 4", "report of run"],
    )


def test_arguments_are_refused_before_anything_is_done(done):
    with pytest.raises(Refused, match="eval takes no arguments: runs/mine."):
        done("runs/mine")
