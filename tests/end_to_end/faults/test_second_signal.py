"""Who asks twice to stop does not want to wait, not even for a save; what was saved before is whole."""

import glob
import os
import signal
import time

import pytest

from tfod_train.checkpoints import integrity

pytestmark = pytest.mark.training
AT_ONCE_SECS = 30  # on a busy machine too; the save that is not waited for never ends


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """RUN_DIR of all these tests: each resumes from what the one before left."""
    return str(tmp_path_factory.mktemp("run") / "run")


@pytest.fixture
def stop_while_it_saves(start, folder):
    """function(signal's number, **settings) -> (Run, seconds from the second signal to the end)."""

    def stop(number, **settings):
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


@pytest.mark.parametrize("trainer, number, code", [("mirrored", signal.SIGINT, 130), ("clone", signal.SIGTERM, 143)])
def test_a_second_signal_does_not_wait_for_a_save(stop_while_it_saves, folder, trainer, number, code):
    before = integrity.steps(folder) if os.path.isdir(folder) else []
    stopped, secs = stop_while_it_saves(number, TRAINER=trainer)
    assert stopped.code == code, stopped.console
    assert secs < AT_ONCE_SECS
    assert stopped.lines[-2:] == ["Stopping after this step and saving; once more stops at once.", "Stopped at once."]
    assert (stopped.manifest()["outcome"], stopped.manifest()["exit_code"]) == ("stopped", code)
    # The second training resumes from what the first had saved.
    assert (f"Resuming from step {before[-1]} to 100000." if before else "From step 0 to 100000.") in stopped.lines
    saved = [step for step in stopped.checkpoints if step not in before]
    assert len(saved) == 2 and len(stopped.checkpoints) == len(before) + 2


@pytest.fixture(scope="module")
def interrupted(start, folder):
    """An evaluation with USE_MOVING_AVERAGE=0 of what those trainings saved with moving averages, and one Ctrl-C."""
    return start(
        folder,
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
