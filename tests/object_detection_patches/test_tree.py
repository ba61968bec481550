"""A tree is patched as a whole or not at all, and can always be told from one that somebody edited."""

import hashlib
import json
import os

import pytest

from object_detection_patches import tree
from object_detection_patches.errors import PatchError, SourceError, WrongName
from object_detection_patches.patches import PATCHES, saver_under_strategy

MODEL_LIB = "object_detection/model_lib.py"
TRAINER = "object_detection/legacy/trainer.py"
ADDED = "object_detection/metrics/lvis_on_demand.py"
IDS = "object_detection/utils/image_ids.py"
IDS_EARLIER = "object_detection/utils/picture_ids.py"


def test_every_patch_changes_its_files_and_nothing_else(small_tree, content):
    before = content(small_tree)
    for patch in tree.select():
        written = tree.apply(str(small_tree), [patch])
        assert set(patch.files + patch.adds) <= set(written)
        after = content(small_tree)
        changed = {path for path in after if not path.startswith(".") and after[path] != before.get(path)}
        assert changed == set(patch.files + patch.adds)


def test_applying_twice_is_applying_once(small_tree, content):
    assert tree.apply(str(small_tree), tree.select())
    once = content(small_tree)
    assert tree.apply(str(small_tree), tree.select()) == []
    assert content(small_tree) == once


def test_a_tree_holds_exactly_the_patches_of_the_last_apply(small_tree, content):
    pristine = content(small_tree)
    tree.apply(str(small_tree), tree.select())
    assert (small_tree / ADDED).exists()
    tree.apply(str(small_tree), tree.select(only=["saver_under_strategy"]))
    changed = {path for path, data in content(small_tree).items() if data != pristine.get(path)}
    assert changed == {MODEL_LIB, tree.RECORD, os.path.join(tree.PRISTINE, MODEL_LIB)}


def test_a_missing_construct_changes_nothing_at_all(small_tree, content):
    trainer = small_tree / TRAINER
    trainer.write_bytes(trainer.read_bytes().replace(b"slim.learning.train", b"slim.learning.run"))
    before = content(small_tree)
    with pytest.raises(PatchError, match="clone_trainer_session .*slim.learning.train.*trainer.py.*nowhere"):
        tree.apply(str(small_tree), tree.select())
    assert content(small_tree) == before
    tree.apply(str(small_tree), tree.select(without=["clone_trainer_session"]))


def test_a_doubled_construct_changes_nothing_at_all(small_tree, content):
    trainer = small_tree / TRAINER
    trainer.write_bytes(trainer.read_bytes() * 2)
    before = content(small_tree)
    with pytest.raises(PatchError, match="2 times"):
        tree.apply(str(small_tree), tree.select())
    assert content(small_tree) == before


def test_a_missing_file_is_named(small_tree):
    (small_tree / TRAINER).unlink()
    with pytest.raises(PatchError, match="clone_trainer_session looks for the file in .*legacy/trainer.py"):
        tree.apply(str(small_tree), tree.select())


def test_a_file_edited_after_patching_is_refused_by_name(small_tree, content):
    tree.apply(str(small_tree), tree.select())
    (small_tree / MODEL_LIB).write_bytes(b"# mine\n" + (small_tree / MODEL_LIB).read_bytes())
    before = content(small_tree)
    with pytest.raises(SourceError, match="model_lib.py was changed by hand"):
        tree.apply(str(small_tree), tree.select(only=["saver_under_strategy"]))
    assert content(small_tree) == before


def test_a_file_put_back_by_hand_is_patched_again(small_tree):
    pristine = (small_tree / MODEL_LIB).read_bytes()
    tree.apply(str(small_tree), tree.select())
    patched = (small_tree / MODEL_LIB).read_bytes()
    (small_tree / MODEL_LIB).write_bytes(pristine)
    assert tree.apply(str(small_tree), tree.select()) == [MODEL_LIB]
    assert (small_tree / MODEL_LIB).read_bytes() == patched


def test_somebody_elses_file_is_not_overwritten_by_one_a_patch_adds(small_tree):
    (small_tree / ADDED).parent.mkdir(parents=True)
    (small_tree / ADDED).write_text("MINE = 1\n")
    with pytest.raises(SourceError, match="lvis_on_demand.py, which the patch lvis_optional adds, is there"):
        tree.apply(str(small_tree), tree.select())
    assert (small_tree / ADDED).read_text() == "MINE = 1\n"


@pytest.mark.parametrize("writes", range(1, 20))
def test_a_run_stopped_at_any_write_is_finished_by_the_next(small_tree, content, monkeypatch, writes):
    tree.apply(str(small_tree), tree.select(only=["saver_under_strategy", "lvis_optional"]))
    expected = tree.select(without=["lvis_optional"])
    left = [writes]
    write = tree._write

    def stopping(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(tree, "_write", stopping)
        try:
            tree.apply(str(small_tree), expected)
        except KeyboardInterrupt:
            pass
    tree.apply(str(small_tree), expected)
    assert tree.verify(str(small_tree)).patches == tuple(patch.name for patch in expected)
    assert not (small_tree / ADDED).exists()
    assert b"lvis_evaluation" in (small_tree / "object_detection/eval_util.py").read_bytes()
    assert json.loads((small_tree / tree.RECORD).read_text())["files"].keys() == {
        path for patch in expected for path in patch.files + patch.adds
    }


def test_verify_tells_patched_outdated_and_foreign(small_tree):
    tree.apply(str(small_tree), tree.select())
    assert MODEL_LIB in tree.verify(str(small_tree)).patched
    (small_tree / TRAINER).write_bytes(b"# mine\n")
    report = tree.verify(str(small_tree))
    assert TRAINER in report.foreign and TRAINER not in report.patched
    assert MODEL_LIB in report.patched and report.outdated == ()


def test_a_tree_made_by_another_version_of_a_patch_is_told_and_brought_up_to_date(small_tree, monkeypatch):
    earlier = saver_under_strategy.PATCH._replace(
        transform=lambda path, file: file.insert_first("pass", "create_model_fn")
    )
    with monkeypatch.context() as patch:
        patch.setattr(saver_under_strategy, "PATCH", earlier)
        tree.apply(str(small_tree), tree.select())
    assert tree.verify(str(small_tree)).outdated == (MODEL_LIB,)
    assert tree.apply(str(small_tree), tree.select()) == [MODEL_LIB]
    assert MODEL_LIB in tree.verify(str(small_tree)).patched


def test_a_tree_with_the_earlier_name_of_a_patch_is_told_and_brought_up_to_date(small_tree, content):
    """image_ids_of_clones was picture_ids_of_clones, and the file that it adds was named and written accordingly."""
    tree.apply(str(small_tree), tree.select())
    expected = content(small_tree)
    record = json.loads((small_tree / tree.RECORD).read_text().replace("image_ids", "picture_ids"))
    (small_tree / IDS).rename(small_tree / IDS_EARLIER)
    for path in (TRAINER, IDS_EARLIER):
        data = (small_tree / path).read_bytes().replace(b"image_ids", b"picture_ids")
        (small_tree / path).write_bytes(data)
        record["files"][path]["patched"] = hashlib.sha256(data).hexdigest()
    (small_tree / tree.RECORD).write_text(json.dumps(record))
    report = tree.verify(str(small_tree))
    assert "picture_ids_of_clones" in report.patches
    assert set(report.outdated) == set(record["files"]) and not set(report.foreign) & set(record["files"])
    assert tree.apply(str(small_tree), tree.select()) == [TRAINER, IDS, IDS_EARLIER]
    assert content(small_tree) == expected


def test_a_patched_file_that_was_deleted_comes_back(small_tree):
    tree.apply(str(small_tree), tree.select())
    (small_tree / MODEL_LIB).unlink()
    assert MODEL_LIB in tree.verify(str(small_tree)).foreign
    assert tree.apply(str(small_tree), tree.select()) == [MODEL_LIB]


def test_a_lost_original_is_refused(small_tree, content):
    tree.apply(str(small_tree), tree.select())
    (small_tree / tree.PRISTINE / MODEL_LIB).unlink()
    before = content(small_tree)
    with pytest.raises(SourceError, match="original of .*model_lib.py is missing"):
        tree.apply(str(small_tree), tree.select(without=["lvis_optional"]))
    assert content(small_tree) == before


def test_a_damaged_record_is_refused(small_tree):
    (small_tree / tree.RECORD).write_text("{")
    with pytest.raises(SourceError, match="patches.json is damaged"):
        tree.apply(str(small_tree), tree.select())


def test_windows_line_ends_stay(small_tree):
    trainer = small_tree / TRAINER
    trainer.write_bytes(trainer.read_bytes().replace(b"\n", b"\r\n"))
    tree.apply(str(small_tree), tree.select())
    data = trainer.read_bytes()
    assert b"if session_config is None:\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_checkout_with_slim_one_folder_down_is_patched(small_tree):
    (small_tree / "slim").mkdir()
    (small_tree / "deployment").rename(small_tree / "slim" / "deployment")
    assert "slim/deployment/model_deploy.py" in tree.apply(str(small_tree), tree.select())


def test_diff_is_the_same_before_and_after_applying(small_tree):
    before = list(tree.diff(str(small_tree), tree.select()))
    assert "-  def model_fn(mode, scaffold=None):\n" not in before
    assert "-    if scaffold is None:\n" in before
    assert "+    if scaffold is None and mode != tf.estimator.ModeKeys.TRAIN:\n" in before
    assert "--- /dev/null\n" in before
    tree.apply(str(small_tree), tree.select())
    assert list(tree.diff(str(small_tree), tree.select())) == before


def test_the_modules_of_a_patched_tree_are_compiled(small_tree):
    tree.apply(str(small_tree), tree.select())
    assert list((small_tree / "object_detection" / "__pycache__").glob("model_lib.*.pyc"))
    assert not list((small_tree / tree.PRISTINE).rglob("*.pyc"))


def test_a_folder_without_the_api_is_refused(tmp_path):
    with pytest.raises(SourceError, match="holds no Object Detection API.*fetch"):
        tree.apply(str(tmp_path), tree.select())


def test_a_wrong_name_is_refused_with_the_nearest_right_one():
    with pytest.raises(WrongName, match="no patch 'saver_under_strateg'. Did you mean saver_under_strategy"):
        tree.select(only=["saver_under_strateg"])
    with pytest.raises(WrongName, match="no patch 'zzz'. Take one of: saver_under_strategy, "):
        tree.select(without=["zzz"])


@pytest.mark.tensorflow
def test_the_diff_of_every_patch_is_small(pristine_api):
    for name in PATCHES:
        (patch,) = tree.select(only=[name])
        lines = list(tree.diff(pristine_api, [patch]))
        edits = [line for line in lines if line.startswith("-") and not line.startswith("---")]
        assert len(edits) <= 5, name
