"""An evaluation beside a training may ask for an early end; the training saves, says why, and can be resumed."""

import json
import os
import subprocess

import pytest

from tfod_train.run import stop_request
from tfod_train.run.run_dir import RunDir


@pytest.mark.parametrize("best_step, start_step, since", [(100, 0, 3), (400, 0, 0), (100, 200, 2), (100, 400, 0)])
def test_patience_counts_from_the_best_step_and_from_the_trainings_start(best_step, start_step, since):
    assert stop_request.without_improvement([100, 200, 300, 400], best_step, start_step) == since


def test_what_was_asked_can_be_withdrawn(tmp_path):
    stop_request.withdraw(RunDir(str(tmp_path)))
    assert stop_request.reason(RunDir(str(tmp_path))) is None
    stop_request.ask(RunDir(str(tmp_path)), "it got no better")
    assert stop_request.reason(RunDir(str(tmp_path))) == "it got no better"
    stop_request.withdraw(RunDir(str(tmp_path)))
    assert stop_request.reason(RunDir(str(tmp_path))) is None


@pytest.mark.parametrize(
    "trainer", [pytest.param("clone", marks=pytest.mark.training), pytest.param("mirrored", marks=pytest.mark.long)]
)
def test_asked_training_saves_says_why_and_exits_0(trainer, tiny_command, ended, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    stop_request.ask(RunDir(str(folder)), "of an earlier training")  # means nothing to the next one
    argv, options = tiny_command("train", folder, TRAINER=trainer, NUM_STEPS="1000000", CHECKPOINT_EVERY_STEPS="20")
    with subprocess.Popen(argv, **options) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("First step"):
                stop_request.ask(RunDir(str(folder)), "it got no better")
        process.wait(timeout=60)
    stopped = ended(process.returncode, "".join(lines), str(folder))
    assert stopped.code == 0, stopped.console
    assert "Stopped early: it got no better. The same command resumes from here." in stopped.lines
    manifest = stopped.manifest()
    assert (manifest["outcome"], manifest["exit_code"]) == ("stopped early", 0)
    assert manifest["step"] == stopped.checkpoints[-1] < 1000000


@pytest.mark.long
def test_an_evaluation_beside_a_training_that_learns_nothing_stops_it(tiny, tiny_command, ended, tiny_config, tmp_path):
    """With the mirrored trainer, and checkpoints that come and go faster than they can be evaluated."""
    # With nothing learned, and statistics that keep what they have, each evaluation is as good as the first.
    config = tiny_config(("learning_rate: 0.01", "learning_rate: 0"), ("decay: 0.5", "decay: 1"))
    settings = dict(PIPELINE_CONFIG=config, CHECKPOINT_EVERY_STEPS="50", KEEP_CHECKPOINTS="1", EARLY_STOP_PATIENCE="2")
    folder = tmp_path / "run"
    argv, options = tiny_command("train", folder, NUM_STEPS="1000000", **settings)
    with subprocess.Popen(argv, **options) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("First step"):
                break
        else:
            pytest.fail("".join(lines))
        evaluation = tiny("eval", folder, **settings)
        lines += list(process.stdout)
        process.wait(timeout=120)
    stopped = ended(process.returncode, "".join(lines), str(folder))
    assert stopped.code == 0, stopped.console
    assert evaluation.code == 0, evaluation.console
    metrics = evaluation.metrics()
    first = metrics["evaluations"][0]["step"]
    assert metrics["best_step"] == first
    why = f"2 evaluations after step {first} were no better (EARLY_STOP_PATIENCE=2)"
    assert f"The training is asked to stop at its next checkpoint: {why}." in evaluation.lines
    assert f"Stopped early: {why}. The same command resumes from here." in stopped.lines
    assert os.path.exists(str(folder / "best" / (f"model.ckpt-{first}.index")))
    with open(str(folder / "best" / "best.json")) as source:
        assert json.load(source)["step"] == first
    # Resumed, it has its patience again, although everything evaluated so far was no better.
    at = stopped.checkpoints[-1]
    resumed = tiny("train", folder, NUM_STEPS=str(at + 60), **settings)
    assert resumed.code == 0, resumed.console
    assert (resumed.manifest()["outcome"], resumed.manifest()["step"]) == ("finished", at + 60)
