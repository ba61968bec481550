"""Who asks twice to stop does not want to wait, not even for a save; what was saved before is whole."""

import glob
import os
import shutil
import signal
import time

import pytest

from tfod_train.checkpoints import integrity

pytestmark = [pytest.mark.training, pytest.mark.long]
AT_ONCE_SECS = 30  # on a busy machine too; the save that is not waited for never ends


@pytest.fixture(scope="module")
def stop_while_it_saves(start):
    """function(folder, signal's number, **settings) -> (Run, seconds from the second signal to the end)."""

    def stop(folder, number, **settings):
        sent = []

        def signal_twice(process):
            until = time.time() + 60
            while not glob.glob(os.path.join(folder, "model.ckpt-*_temp_1")) and time.time() < until:
                time.sleep(0.05)
            process.send_signal(number)
            time.sleep(1)
            assert process.poll() is None  # it waits for the save
            sent.append(time.time())
            process.send_signal(number)

        stopped = start(
            folder, {"First step": signal_twice}, SPOIL="endless save", CHECKPOINT_EVERY_STEPS="2", **settings
        )
        return stopped, time.time() - sent[0]

    return stop


@pytest.fixture(scope="module")
def interrupted_training(stop_while_it_saves, tmp_path_factory):
    """(Run, seconds) of a mirrored training that got Ctrl-C twice."""
    return stop_while_it_saves(str(tmp_path_factory.mktemp("run") / "run"), signal.SIGINT, TRAINER="mirrored")


def is_stopped_at_once(stopped, secs, code):
    assert stopped.code == code, stopped.console
    assert secs < AT_ONCE_SECS
    assert stopped.lines[-2:] == ["Stopping after this step and saving; once more stops at once.", "Stopped at once."]
    assert (stopped.manifest()["outcome"], stopped.manifest()["exit_code"]) == ("stopped", code)


def test_a_second_ctrl_c_does_not_wait_for_a_save(interrupted_training):
    stopped, secs = interrupted_training
    is_stopped_at_once(stopped, secs, 130)
    assert "From step 0 to 100000." in stopped.lines and len(stopped.checkpoints) == 2


def test_a_second_sigterm_does_not_either_and_what_was_saved_before_is_resumed_from(
    stop_while_it_saves, interrupted_training, tmp_path
):
    folder = str(tmp_path / "run")
    shutil.copytree(interrupted_training[0].folder, folder)
    before = integrity.steps(folder)
    stopped, secs = stop_while_it_saves(folder, signal.SIGTERM, TRAINER="clone")
    is_stopped_at_once(stopped, secs, 143)
    assert f"Resuming from step {before[-1]} to 100000." in stopped.lines
    saved = [step for step in stopped.checkpoints if step not in before]
    assert len(saved) == 2 and len(stopped.checkpoints) == len(before) + 2


@pytest.fixture(scope="module")
def interrupted(start, interrupted_training):
    """An evaluation with USE_MOVING_AVERAGE=0 of what a training saved with moving averages, and one Ctrl-C."""
    return start(
        interrupted_training[0].folder,
        {"Results are in": lambda process: process.send_signal(signal.SIGINT)},
        command="eval",
        EVAL_MODE="continuous",
        USE_MOVING_AVERAGE="0",
    )


def test_an_evaluation_stops_at_the_first_and_keeps_what_is_finished(interrupted):
    assert interrupted.code == 130, interrupted.console
    assert interrupted.lines[-1] == "Stopped at once: finished evaluations are kept."
    evaluations = interrupted.metrics()["evaluations"]
    assert evaluations[0]["step"] == min(interrupted.checkpoints)
    assert all(entry["images"] == 59 for entry in evaluations)


def test_an_evaluation_takes_the_weights_that_the_setting_asks_for(interrupted):
    assert "with raw (the checkpoint holds moving averages too) weights" in interrupted.console
    assert {entry["weights"] for entry in interrupted.metrics()["evaluations"]} == {
        "raw (the checkpoint holds moving averages too)"
    }
