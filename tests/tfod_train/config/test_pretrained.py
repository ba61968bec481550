"""A folder stands for its checkpoint, and the classes of a checkpoint are read from what lies beside it."""

import json
import os

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")

LABEL_MAP = "item { id: 2 name: 'dog' }\nitem { id: 1 name: 'cat' }\n"
BEST = {"checkpoint": "model.ckpt-2", "step": 2, "metric": "COCO mAP", "value": 0.5}


@pytest.fixture
def folder(tmp_path, write_checkpoint):
    """function(*names, best=None) -> folder with checkpoints of those names, and those of its best/."""

    def make(*names, **described):
        run = tmp_path / "run"
        (run / "best").mkdir(parents=True)
        for name in names:
            write_checkpoint(str(run / name))
        if described:
            write_checkpoint(str(run / "best" / "model.ckpt-2"))
            (run / "best" / "best.json").write_text(json.dumps(described["best"]))
        return run

    return make


def locate(named):
    from tfod_train.config import pretrained

    return tuple(pretrained.locate(str(named)))


def refused(named):
    with pytest.raises(Refused) as error:
        locate(named)
    return error.value


def test_a_path_is_itself(tmp_path):
    assert locate(tmp_path / "model.ckpt-3") == (str(tmp_path / "model.ckpt-3"), "")
    assert locate("") == ("", "")


@pytest.mark.parametrize("inside", ["", "best", "best/"])
def test_a_runs_folder_is_its_best_checkpoint(inside, folder):
    run = folder("model.ckpt-2", "model.ckpt-9", best=BEST)
    assert locate(os.path.join(str(run), inside)) == (
        str(run / "best" / "model.ckpt-2"),
        "the best of its evaluations, COCO mAP 0.500",
    )


def test_without_a_best_it_is_the_newest_that_can_be_read(folder):
    run = folder("model.ckpt-2", "model.ckpt-9", "model.ckpt-10")
    assert locate(run) == (str(run / "model.ckpt-10"), "the newest that can be read; no best one is kept")
    with open(str(run / "model.ckpt-10.data-00000-of-00001"), "wb") as data:
        data.write(b"\0" * 16)
    checkpoint, how = locate(str(run) + "/")
    assert checkpoint == str(run / "model.ckpt-9")
    assert how == (
        "the newest that can be read; no best one is kept. "
        f"Checkpoint {run}/model.ckpt-10 cannot be read: the checksum of v does not match"
    )


def test_a_best_that_is_broken_is_told(folder):
    run = folder("model.ckpt-2", best=BEST)
    os.unlink(str(run / "best" / "model.ckpt-2.data-00000-of-00001"))
    assert locate(run) == (str(run / "model.ckpt-2"), "the newest that can be read; what is in best/ cannot be read")


def test_a_folder_of_the_apis_own_export_is_its_checkpoint(folder):
    run = folder("model.ckpt")
    assert locate(run) == (str(run / "model.ckpt"), "the one in it")


def test_a_folder_with_both_is_refused(folder):
    run = folder("model.ckpt", "model.ckpt-7")
    assert refused(run).what == f"fine_tune_checkpoint {run} holds model.ckpt.index and model.ckpt-7.index."


def test_a_folder_beside_a_checkpoint_of_that_name_is_refused(folder, write_checkpoint):
    run = folder("model.ckpt-7")
    write_checkpoint(str(run))
    assert refused(run).what == (
        f"fine_tune_checkpoint {run} is both a folder and a checkpoint (beside it is {run}.index)."
    )


def test_a_folder_without_a_checkpoint_is_refused_with_what_it_lacks_and_what_is_there(folder, tmp_path):
    run = folder()
    error = refused(run)
    assert (error.code, error.what) == (
        2,
        f"fine_tune_checkpoint {run} is a folder without a checkpoint (no model.ckpt-STEP.index, no model.ckpt.index, "
        "no best/best.json).",
    )
    assert error.do == "Name the folder of a run that saved one, a checkpoint's path without .index, or none."
    (run / "other.ckpt.index").write_bytes(b"")
    assert refused(run).do == f"Name a checkpoint in it by its path: {run}/other.ckpt."
    os.rename(str(run / "other.ckpt.index"), str(run / "model.ckpt-1.index"))
    assert refused(tmp_path).do == f"Name one of the runs in it: {run}."


def test_a_folder_of_which_no_checkpoint_can_be_read_is_refused_with_the_reason(folder):
    run = folder("model.ckpt-2")
    os.unlink(str(run / "model.ckpt-2.data-00000-of-00001"))
    assert "that can be read: Checkpoint" in refused(run).what and "00001 is missing" in refused(run).what


def test_an_export_is_refused_with_the_checkpoint_it_was_made_of(folder):
    run = folder()
    (run / "export.json").write_text('{"checkpoint": "/runs/a/best/model.ckpt-2"}')
    assert refused(run).what == f"fine_tune_checkpoint {run} is an export, which holds no checkpoint."
    assert "/runs/a/best/model.ckpt-2" in refused(run).do


def test_a_folder_that_cannot_be_read_is_refused(folder, monkeypatch):
    from tfod_train.checkpoints import integrity

    def forbidden(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(integrity, "steps", forbidden)
    error = refused(folder())
    assert error.code == 3 and error.what.endswith("is a folder that cannot be read: Permission denied.")


def classes_of(run, name="model.ckpt-2"):
    from tfod_train.config import pretrained

    return tuple(pretrained.classes_of(str(run / name)))


@pytest.mark.parametrize("name", ["model.ckpt-2", "best/model.ckpt-2"])
@pytest.mark.parametrize(
    "recorded, ids",
    [
        ({"classes": ["cat", "dog"]}, {"cat": 1, "dog": 2}),
        ({"classes": ["cat", "dog"], "class_ids": {"cat": 1, "dog": 5}}, {"cat": 1, "dog": 5}),
        ({"classes": ["cat", "dog"], "class_ids": None}, {"cat": 1, "dog": 2}),
    ],
)
def test_a_runs_classes_are_those_it_was_trained_on_whatever_its_label_map_says_today(recorded, ids, name, folder):
    run = folder("model.ckpt-2", best=BEST)
    (run / "label_map.pbtxt").write_text("item { id: 1 name: 'other' }")
    (run / "pipeline.config").write_text(f'train_input_reader {{ label_map_path: "{run}/label_map.pbtxt" }}')
    (run / "run.json").write_text(json.dumps({"dataset": recorded}))
    assert classes_of(run, name) == (ids, "")


@pytest.mark.parametrize(
    "recorded", [None, [], {}, {"classes": ["a", "a"]}, {"class_ids": {"a": 1, "b": 1}}, {"class_ids": {"a": "1"}}]
)
def test_a_run_json_that_does_not_name_them_leaves_them_unknown(recorded, folder):
    run = folder("model.ckpt-2")
    (run / "run.json").write_text(json.dumps({"dataset": recorded}))
    assert classes_of(run) == ({}, f"{run}/run.json does not name them one by one")


def test_a_run_json_that_cannot_be_read_leaves_them_unknown_and_a_damaged_one_is_refused(folder):
    run = folder("model.ckpt-2")
    (run / "run.json").mkdir()
    assert classes_of(run) == ({}, f"{run}/run.json cannot be read: Is a directory")
    (run / "run.json").rmdir()
    (run / "run.json").write_text("{")
    with pytest.raises(Refused) as error:
        classes_of(run)
    assert error.value.code == 3 and error.value.what == f"{run}/run.json is damaged: it is not valid JSON."


def test_a_run_of_the_apis_own_has_the_label_map_of_its_config_unless_it_was_changed_since(folder):
    run = folder("model.ckpt-2")
    assert classes_of(run) == ({}, "neither run.json nor pipeline.config is beside it")
    label_map, config = run / "label_map.pbtxt", run / "pipeline.config"
    config.write_text("nonsense")
    assert classes_of(run) == ({}, f"{config} cannot be read")
    config.write_text("train_config { batch_size: 1 }")
    assert classes_of(run) == ({}, f"{config} names no label map")
    config.write_text(f'train_input_reader {{ label_map_path: "{label_map}" }}')
    assert classes_of(run) == ({}, f"the label map {label_map} of {config} cannot be read (No such file or directory)")
    label_map.write_text(LABEL_MAP)
    os.utime(str(label_map), (1000, 1000))
    assert classes_of(run) == ({"cat": 1, "dog": 2}, "")
    os.utime(str(run / "model.ckpt-2.index"), (999, 999))
    assert classes_of(run) == (
        {},
        f"{label_map}, the label map of {config}, was changed after the checkpoint was saved",
    )


@pytest.mark.parametrize(
    "config, known, kept",
    [
        ("", True, True),
        ('fine_tune_checkpoint_type: "detection"', True, True),
        ('fine_tune_checkpoint_type: "classification"', True, False),
        ("load_all_detection_checkpoint_vars: false", True, False),
        ("", False, False),
    ],
)
def test_the_head_of_known_classes_is_kept_unless_the_config_says_otherwise(config, known, kept, folder):
    from google.protobuf import text_format
    from object_detection.protos import train_pb2

    from tfod_train.config import pretrained

    run = folder("model.ckpt-2")
    if known:
        (run / "run.json").write_text('{"dataset": {"classes": ["cat"]}}')
    train = text_format.Parse(config, train_pb2.TrainConfig(fine_tune_checkpoint=str(run / "model.ckpt-2")))
    said = []
    pretrained.keep_head(train, lambda message, *change: said.append(change))
    why = "the checkpoint's classes are known, so its head is kept by class"
    assert said == ([("load_all_detection_checkpoint_vars", True, why)] if kept else [])
