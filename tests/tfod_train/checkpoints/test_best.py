"""best/ always names a whole checkpoint, whatever is deleted, torn or killed."""

import os

import pytest

from common.errors import Refused
from tfod_train.checkpoints import best, integrity


@pytest.fixture
def run(tmp_path, write_checkpoint):
    for step in (1, 2, 10):
        write_checkpoint(str(tmp_path / (f"model.ckpt-{step}")))
    return tmp_path


def keep(run, step, value=0.5):
    best.keep(str(run), str(run / (f"model.ckpt-{step}")), step, "mAP", value)


def test_what_is_kept_outlives_the_trainings_own(run):
    keep(run, 1)
    for path in integrity.files_of(str(run / "model.ckpt-1")):
        os.unlink(path)
    kept = best.kept(str(run))
    assert kept == (str(run / "best" / "model.ckpt-1"), 1, "mAP", 0.5)
    assert integrity.problem(kept.checkpoint, values=True) is None


@pytest.mark.parametrize("text", ["[1]", '{"step": 1}', '{"checkpoint": 1, "step": 1, "metric": "mAP", "value": 1}'])
def test_a_description_of_something_else_is_refused(text, run):
    keep(run, 1)
    (run / "best" / "best.json").write_text(text)
    with pytest.raises(Refused) as refused:
        best.kept(str(run))
    assert refused.value.code == 3 and refused.value.what.endswith("does not say which checkpoint is the best.")


def test_a_better_one_takes_its_place(run):
    keep(run, 1)
    keep(run, 10, 0.6)
    assert best.kept(str(run)).step == 10
    assert sorted(os.listdir(str(run / "best"))) == [
        "best.json",
        "model.ckpt-10.data-00000-of-00001",
        "model.ckpt-10.index",
        "model.ckpt-10.meta",
    ]


def test_keeping_the_same_again_changes_nothing(run):
    keep(run, 1)
    keep(run, 1)
    assert len(os.listdir(str(run / "best"))) == 4 and best.kept(str(run)).step == 1


@pytest.mark.parametrize("killed_in", ["write_json", "_link"])
def test_killed_half_way_the_one_before_is_still_the_best(run, killed_in, monkeypatch):
    keep(run, 1)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(best, killed_in, killed)
    with pytest.raises(KeyboardInterrupt):
        keep(run, 2)
    assert best.kept(str(run)).step == 1
    monkeypatch.undo()
    keep(run, 10)
    assert len(os.listdir(str(run / "best"))) == 4 and best.kept(str(run)).step == 10


def test_where_there_are_no_hard_links_it_is_copied(run, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    keep(run, 1)
    kept = best.kept(str(run)).checkpoint
    assert integrity.problem(kept, values=True) is None
    assert not os.path.samefile(kept + ".index", str(run / "model.ckpt-1.index"))


def test_deleted_and_torn_checkpoints_are_not_set_aside(run):
    with pytest.raises(best.Gone, match="no .index"):
        best.set_aside(str(run / "model.ckpt-3"), str(run / "aside"))
    with open(str(run / "model.ckpt-2.data-00000-of-00001"), "r+b") as shard:
        shard.write(b"\1")
    with pytest.raises(best.Gone, match="checksum"):
        best.set_aside(str(run / "model.ckpt-2"), str(run / "aside"))


def test_files_that_are_gone_are_not_the_best(run):
    assert best.kept(str(run)) is None
    keep(run, 1)
    os.unlink(str(run / "best" / "model.ckpt-1.index"))
    assert best.kept(str(run)) is None


@pytest.mark.parametrize("content", [b"", b'{"step": 1', b"\xff"])
def test_a_damaged_note_is_named_with_what_to_do(content, run):
    keep(run, 1)
    note = os.path.join(str(run), best.FOLDER, best.DESCRIPTION)
    with open(note, "wb") as out:
        out.write(content)
    with pytest.raises(
        Refused, match="best.json is damaged: it is not valid JSON. Move it away, or take it"
    ) as refused:
        best.kept(str(run))
    assert refused.value.code == 3
