"""Bad input, given as people would: one sentence of what, one of what to do, the documented code, nothing written."""

import os
import shutil

import pytest


@pytest.fixture(scope="module")
def records(mini, tmp_path_factory):
    """function() -> a copy of mini-pets' records to spoil."""

    def copy():
        folder = str(tmp_path_factory.mktemp("spoiled") / "mini-pets")
        shutil.copytree(str(mini), folder, ignore=shutil.ignore_patterns("raw"))
        return folder

    return copy


def shard(folder):
    return os.path.join(folder, "pet_faces_train.record-00003-of-00010")


def empty(folder):
    with open(shard(folder), "w"):
        pass


def cut(folder):
    with open(shard(folder), "r+b") as file:
        file.truncate(os.path.getsize(shard(folder)) - 5)


def replace_by_text(folder):
    with open(shard(folder), "w") as file:
        file.write("<html>404</html>" * 100)


@pytest.mark.parametrize(
    "spoil",
    [empty, cut, replace_by_text, lambda folder: os.remove(shard(folder))],
    ids=["empty", "cut off", "foreign", "missing"],
)
def test_spoiled_records_are_refused_by_name(spoil, records, run, tmp_path):
    folder = records()
    spoil(folder)
    refused = run("train", str(tmp_path / "run"), DATASET=folder)
    assert refused.code == 3, refused.console
    assert "pet_faces_train.record-00003-of-00010" in refused.console
    assert not os.path.exists(refused.folder)


@pytest.mark.parametrize(
    "settings, code, sentence",
    [
        (dict(TRAINER="clones"), 2, "did you mean clone?"),
        (dict(TRAINNER="clone"), 2, "did you mean TRAINER?"),
        (dict(BATCH_SIZE="9"), 2, "Set BATCH_SIZE to 8 or 10"),
        (dict(PIPELINE_CONFIG="configs/none.config"), 2, "PIPELINE_CONFIG=configs/none.config is not a file."),
        (dict(DATASET="minipets"), 2, "Did you mean mini-pets?"),
        (dict(DATASET="pets", DATA_DIR="/nowhere"), 3, "Make it with: make pets-tfrecord."),
        (dict(DEVICE="gpu"), 3, "no GPU is visible"),
        (dict(RESUME="require"), 2, "holds no checkpoint"),
        (dict(FINE_TUNE_CHECKPOINT="/nowhere/model.ckpt"), 2, "is not there"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, code, sentence, run, tmp_path):
    refused = run("train", str(tmp_path / "run"), **settings)
    assert refused.code == code, refused.console
    assert sentence in refused.console
    assert "Traceback" not in refused.console and len(refused.lines) <= 4
    assert not os.path.exists(refused.folder)


def test_evaluating_a_folder_without_a_run_is_refused(run, tmp_path):
    refused = run("eval", str(tmp_path / "run"), EVAL_MODE="once")
    assert (refused.code, "holds no checkpoint to evaluate" in refused.console) == (3, True)


def test_somebody_elses_checkpoints_are_left_alone(run, tmp_path):
    folder = tmp_path / "zoo"
    folder.mkdir()
    for name in ("model.ckpt.index", "model.ckpt.data-00000-of-00001", "checkpoint"):
        (folder / name).write_text("not ours")
    refused = run("train", str(folder))
    assert (refused.code, "holds checkpoints of something else" in refused.console) == (2, True)
    assert sorted(os.listdir(str(folder))) == ["checkpoint", "model.ckpt.data-00000-of-00001", "model.ckpt.index"]
