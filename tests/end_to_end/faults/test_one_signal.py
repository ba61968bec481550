"""One Ctrl-C while the mirrored trainer makes steps; test_training.py has SIGTERM and the clone trainer."""

import signal

import pytest

pytestmark = [pytest.mark.training, pytest.mark.long]


def test_ctrl_c_saves_and_exits_130_and_the_same_command_resumes(start, tiny_training, tmp_path):
    stopped = start(tmp_path / "run", {"First step": lambda process: process.send_signal(signal.SIGINT)})
    assert stopped.code == 130, stopped.console
    (step,) = stopped.checkpoints
    assert (stopped.manifest()["outcome"], stopped.manifest()["step"], stopped.manifest()["exit_code"]) == (
        "stopped",
        step,
        130,
    )
    assert "Stopping after this step and saving; once more stops at once." in stopped.lines
    again = tiny_training(stopped.folder, NUM_STEPS=str(step + 2), NUM_GPUS="1")
    assert again.code == 0, again.console
    assert f"Resuming from step {step} to {step + 2}." in again.lines
    assert [one["exit_code"] for one in again.manifest()["earlier"]] == [130]
