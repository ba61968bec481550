"""How a training ends: what run.json says, and the exit code."""

import io
import json
import os
import signal

import pytest

from common.errors import Refused
from tfod_train.checkpoints import integrity
from tfod_train.process.console import Console


@pytest.fixture
def ended(planned_run, tmp_path, monkeypatch, protos):
    """function(step, requested=0, while_written=0) -> (Outcome, run.json, console) of a training whose steps are over.

    requested: the signal that stopped it. while_written: one that comes while run.json is written.
    """
    from google.protobuf import text_format
    from object_detection.protos import pipeline_pb2

    from tfod_train.run import manifest
    from tfod_train.trainers.session import TrainingSession

    config = text_format.Parse("train_config { batch_size: 2 num_steps: 8 }", pipeline_pb2.TrainEvalPipelineConfig())
    run = planned_run(tmp_path, config)

    def end(step, requested=0, while_written=0):
        terminal = io.StringIO()
        session = TrainingSession(run, Console(terminal))
        session._speed.step, session._speed.first_step_secs, session._speed.last_loss = step, 1.0, 0.5
        session._stop.requested = requested
        finish = manifest.finish

        def finish_and_be_signalled(*arguments):
            finish(*arguments)
            session._stop.requested = while_written or requested

        monkeypatch.setattr(manifest, "finish", finish_and_be_signalled)
        outcome = session._ended()
        return outcome, json.loads((tmp_path / "run.json").read_text()), terminal.getvalue()

    return end


def test_a_signal_that_comes_while_run_json_is_written_is_not_lost(ended):
    outcome, _, _ = ended(8, while_written=signal.SIGTERM)
    assert outcome.code == 143


@pytest.mark.parametrize(
    "step, requested, word, code", [(8, 0, "finished", 0), (5, signal.SIGTERM, "stopped", 143), (8, 2, "stopped", 130)]
)
def test_the_outcome_is_what_run_json_says(step, requested, word, code, ended):
    outcome, written, console = ended(step, requested)
    assert outcome == (word, code)
    assert (written["outcome"], written["exit_code"], written["step"]) == (word, code, step)
    assert f"at step {step} after" in console


def test_one_that_an_observer_ended_is_no_finished_one(ended):
    outcome, written, console = ended(5)
    assert outcome == ("stopped early", 0) and written["outcome"] == "stopped early"
    assert "Stopped early: an observer of its steps asked for it. The same command resumes from here." in console


@pytest.mark.usefixtures("protos")
@pytest.mark.parametrize("deleted, step, raised", [(True, None, Refused), (True, 3, KeyError), (False, None, KeyError)])
def test_a_checkpoint_that_went_away_before_the_first_step_is_said(
    deleted, step, raised, planned_run, tmp_path, write_checkpoint
):
    from object_detection.protos import pipeline_pb2

    from tfod_train.trainers.session import TrainingSession

    checkpoint = str(tmp_path / "old" / "model.ckpt-2")
    (tmp_path / "old").mkdir()
    write_checkpoint(checkpoint)
    config = pipeline_pb2.TrainEvalPipelineConfig()
    config.train_config.batch_size = 2
    config.train_config.fine_tune_checkpoint = checkpoint
    (tmp_path / "run").mkdir()
    session = TrainingSession(planned_run(tmp_path / "run", config), Console(io.StringIO()))
    session._speed.step = step
    for path in integrity.files_of(checkpoint) if deleted else ():
        os.unlink(path)
    with pytest.raises(raised) as ended:
        session._failed(KeyError("the values"))
    if raised is Refused:
        assert ended.value.code == 3 and ended.value.what == (
            f"fine_tune_checkpoint {checkpoint} went away while the training started: it has no .index file."
        )
