"""Checkpoints of weights that are not finite are set aside, and the last good one is named."""

import os
import struct

import pytest

from common.errors import DIVERGED, Refused
from tfod_train.checkpoints import divergence

GOOD, BROKEN = struct.pack("<4f", 1, 2, 3, 4), struct.pack("<4f", 1, float("inf"), 3, 4)


@pytest.fixture
def folder(tmp_path, write_checkpoint):
    """function(values of each checkpoint) -> the folder that holds them as steps 1, 2, ..."""

    def write(*checkpoints):
        for step, values in enumerate(checkpoints, 1):
            write_checkpoint(str(tmp_path / f"model.ckpt-{step}"), values)
        return str(tmp_path)

    return write


@pytest.mark.tensorflow
def test_a_variable_that_is_not_finite_is_found_by_its_name(folder):
    path = folder(GOOD, BROKEN)
    assert divergence.broken_variable(os.path.join(path, "model.ckpt-1")) is None
    assert divergence.broken_variable(os.path.join(path, "model.ckpt-2")) == "v"


@pytest.mark.tensorflow
def test_the_newest_broken_ones_are_set_aside_and_those_before_a_good_one_are_not_looked_at(folder):
    path, said = folder(BROKEN, GOOD, BROKEN, BROKEN), []
    error = divergence.refused("the loss at step 5 is nan", path, said.append)
    assert (error.code, error.what) == (DIVERGED, "Training diverged: the loss at step 5 is nan.")
    assert error.do.endswith(f"the newest checkpoint is {path}/model.ckpt-2.")
    assert [sentence.split(" holds ")[0] for sentence in said] == [
        f"Checkpoint {path}/model.ckpt-{step}" for step in (4, 3)
    ]
    assert {name.rsplit(".", 1)[0] for name in os.listdir(path) if name.endswith(".index")} == {
        "model.ckpt-1",
        "model.ckpt-2",
        "diverged-model.ckpt-3",
        "diverged-model.ckpt-4",
    }


def test_a_torn_checkpoint_stays_where_it_is(folder, monkeypatch):
    path = folder(GOOD)
    with open(os.path.join(path, "model.ckpt-1.data-00000-of-00001"), "r+b") as data:
        data.write(b"\xff")
    monkeypatch.setattr(divergence, "broken_variable", lambda prefix: pytest.fail("it was read"))
    divergence.refused("so", path, pytest.fail)
    assert "model.ckpt-1.index" in os.listdir(path)


def test_the_end_of_a_training_refuses_broken_weights_alone(folder, monkeypatch):
    divergence.refuse_broken_weights(folder(), pytest.fail)
    path = folder(GOOD)
    monkeypatch.setattr(divergence, "broken_variable", lambda prefix: None)
    divergence.refuse_broken_weights(path, pytest.fail)
    monkeypatch.setattr(divergence, "broken_variable", lambda prefix: "v")
    with pytest.raises(Refused, match=r"the last step left weights that are not finite \(v\)"):
        divergence.refuse_broken_weights(path, lambda sentence: None)
    assert os.path.exists(os.path.join(path, "diverged-model.ckpt-1.index"))
