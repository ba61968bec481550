"""`entrypoint.py train`: what it looks at, says and hands over before and after the steps."""

import io
import os
import re

import pytest

from common.errors import Refused
from tfod_train.process.console import Console

pytestmark = pytest.mark.usefixtures("protos")


def test_a_training_tells_the_warnings_of_its_look_and_is_refused_by_its_errors(look, monkeypatch, read_settings):
    from tfod_train.commands import train
    from tfod_train.preflight import checks

    report = look()
    warned = report._replace(lines=report.lines + [checks.Line("driver", "warning", "It is old.", "Update it.")])
    for name in ("_say_what_will_happen", "_begin"):
        monkeypatch.setattr(train, name, lambda *_: None)
    monkeypatch.setattr(checks.RunDir, "prepare", lambda *_: 0)
    monkeypatch.setattr(train, "_train", lambda *_: 143)
    monkeypatch.setattr(train.checks, "look", lambda settings, make_data: warned)

    class Console(object):
        sentences = []
        say = sentences.append

    assert train.train(read_settings(DEVICE="cpu"), Console, []) == 143
    assert Console.sentences == ["It is old. Update it."]
    refused = report._replace(lines=report.lines + [checks.Line("disk", "error", "It is full.", "Free some.")])
    monkeypatch.setattr(train.checks, "look", lambda settings, make_data: refused)
    monkeypatch.setattr(checks.RunDir, "prepare", lambda *_: pytest.fail("something was begun"))
    with pytest.raises(Refused) as error:
        train.train(read_settings(DEVICE="cpu"), Console, [])
    assert (error.value.what, error.value.code) == ("It is full.", 3)


@pytest.fixture
def run(planned_run, tmp_path, project_dir):
    """function(**settings) -> Run of mini-pets that is planned and not begun."""
    from tfod_train.config import pipeline

    def plan(start_step=0, **settings):
        config = pipeline.parse(os.path.join(project_dir, "configs", "ssd_mobilenet_v1_mini_pets.config"))
        config.train_config.fine_tune_checkpoint = "zoo/model.ckpt"
        return planned_run(tmp_path / "run", config, start_step, **settings)

    return plan


def test_what_will_happen_is_said_before_it_does(run):
    from tfod_train.commands import train

    terminal = io.StringIO()
    train._say_what_will_happen(run(start_step=4, EARLY_STOP_PATIENCE="3"), Console(terminal))
    lines = terminal.getvalue().splitlines()
    assert lines[0] == (
        "Training ssd_mobilenet_v1 on mini-pets (138 images, 3 classes; for a test) with the mirrored trainer."
    )
    assert lines[1].startswith("2 virtual CPU devices, no GPU; ") and lines[1].endswith("moving average on.")
    assert lines[2] == "  batch_size: 16 -> 8"
    assert any("after 3 evaluations without a better COCO mAP" in line for line in lines)
    assert re.match(r"Resuming from step 4 to \d+\.$", lines[-1])


def test_a_run_that_resumes_writes_the_whole_config_and_reads_its_own_checkpoint(run):
    from tfod_train.commands import train
    from tfod_train.run import stop_request

    resumed = run(start_step=4)
    os.makedirs(str(resumed.run_dir))
    stop_request.ask(resumed.run_dir, "it is good")
    train._begin(resumed)
    assert resumed.config.train_config.fine_tune_checkpoint == ""
    assert resumed.run_dir.read_config().train_config.fine_tune_checkpoint == "zoo/model.ckpt"
    assert resumed.run_dir.read_manifest()["start_step"] == 4
    assert stop_request.reason(resumed.run_dir) is None


def test_a_finished_run_takes_no_step_and_goes_on_to_what_follows(look, read_settings, monkeypatch):
    from tfod_train.commands import train

    report = look()
    steps = report.run().total_steps
    finished = []
    monkeypatch.setattr(train.checks, "look", lambda settings, make_data: report)
    monkeypatch.setattr(type(report.run().run_dir), "prepare", lambda *_: steps)
    monkeypatch.setattr(train.manifest, "finish", lambda *given: finished.append(given[1:]))
    monkeypatch.setattr(train, "_begin", lambda run: pytest.fail("it was begun"))
    monkeypatch.setattr(train, "_become_the_evaluation", lambda run, console: None)
    terminal = io.StringIO()
    assert train.train(read_settings(), Console(terminal), []) == 0
    assert finished == [("finished", steps, 0)]
    assert f"holds step {steps}, and {steps} steps were asked for. No step is taken." in terminal.getvalue()


def test_an_evaluation_after_a_training_sees_the_gpus_that_the_user_named(run, monkeypatch):
    from tfod_train.commands import train

    became = []
    monkeypatch.setattr(os, "execve", lambda *given: became.append(given))
    monkeypatch.setattr(Console, "release", lambda self: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")  # as TensorFlow was started with
    for settings in ({}, {"CUDA_VISIBLE_DEVICES": "2,3"}):
        train._become_the_evaluation(run(EVAL_AT_END="1", **settings), Console(io.StringIO()))
    (_, command, environ), (_, _, named) = became
    assert command[-1] == "eval" and environ["EVAL_MODE"] == "once" and environ["RUN_DIR"].endswith("/run")
    assert "CUDA_VISIBLE_DEVICES" not in environ and named["CUDA_VISIBLE_DEVICES"] == "2,3"
