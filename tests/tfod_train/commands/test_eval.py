"""`entrypoint.py eval`: the report is written after each evaluation, and a signal keeps what is finished."""

import types

import pytest

from common.errors import Refused
from tfod_train.commands import eval as command


@pytest.fixture
def done(monkeypatch, read_settings):
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
            happened.append(f"{settings.run_dir} step {step}")
            after_each("run")

    monkeypatch.setattr(command, "StopRequest", StopRequest)
    monkeypatch.setattr(command.checkpoint_loop, "run", run)
    monkeypatch.setattr(command.page, "try_write", lambda run_dir, console: happened.append(f"report of {run_dir}"))
    return lambda *arguments: (command.evaluate(read_settings(RUN_DIR="mine"), Console, list(arguments)), happened)


def test_each_evaluation_is_followed_by_its_report(done):
    assert done() == (
        0,
        ["finished evaluations are kept", "mine step 2", "report of run", "mine step 4", "report of run"],
    )


def test_arguments_are_refused_before_anything_is_done(done):
    with pytest.raises(Refused, match="eval takes no arguments: runs/mine."):
        done("runs/mine")


def test_the_test_split_is_evaluated_by_itself(monkeypatch, read_settings):
    asked = []
    monkeypatch.setattr(command, "StopRequest", lambda say, kept: types.SimpleNamespace(install=lambda: None))
    for name in ("test_split", "checkpoint_loop"):
        monkeypatch.setattr(getattr(command, name), "run", lambda *given, name=name: asked.append(name))
    console = types.SimpleNamespace(say_from_signal=None)
    for split in ("test", "val"):
        command.evaluate(read_settings(RUN_DIR="mine", SPLIT=split), console, [])
    assert asked == ["test_split", "checkpoint_loop"]


@pytest.mark.usefixtures("protos")
def test_a_part_of_a_config_that_the_run_has_otherwise_is_said(tmp_path, read_settings, project_dir):
    with open(f"{project_dir}/configs/ssd_mobilenet_v1_mini_pets.config") as config:
        (tmp_path / "pipeline.config").write_text(config.read())
    said = []
    console = types.SimpleNamespace(say=said.append)
    for text in ("train_config { num_steps: 70 }", "train_config { num_steps: 500 }"):
        command._say_what_is_not_used(read_settings(RUN_DIR=str(tmp_path), CONFIG_OVERRIDE=text), console)
    (sentence,) = said
    assert "CONFIG_OVERRIDE is for training" in sentence and "num_steps is 500 there, not 70" in sentence
