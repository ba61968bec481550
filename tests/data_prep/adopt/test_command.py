"""`data_prep adopt`: what it writes, and beside nothing of anybody's."""

import json
import os

import pytest

from data_prep.__main__ import main
from data_prep.check import quick
from data_prep.writer import ownership
from tests.data_prep import foreign_records


def contents(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(str(folder))}


def test_records_are_described_counted_and_left_as_they_are(adopt, theirs, tmp_path, capsys):
    before = contents(theirs)
    assert adopt() == 0
    assert contents(theirs) == before
    described = json.loads((tmp_path / "mine" / "dataset.json").read_text())
    assert described["adopted"] and described["classes"] == ["cat", "dog"] and described["num_classes"] == 2
    train, val = described["splits"]["train"], described["splits"]["val"]
    assert [shard["file"] for shard in train["shards"]] == ["../theirs/a.record-0", "../theirs/a.record-1"]
    assert (train["examples"], val["examples"]) == (6, 2) and train["boxes_per_class"] == {"cat": 4, "dog": 2}
    assert f"DATASET={tmp_path / 'mine'}" in capsys.readouterr().out
    assert quick.quick(str(tmp_path / "mine")) == []
    assert main(["check", str(tmp_path / "mine")]) == 0 and main(["show", str(tmp_path / "mine")]) == 0


def test_a_test_split_and_several_patterns_are_taken(adopt, theirs, tmp_path):
    foreign_records.write(theirs / "c.record", foreign_records.example(70))
    assert adopt(records=[f"{theirs}/a.record-0", f"{theirs}/a.record-1"], test=f"{theirs}/c.record") == 0
    described = json.loads((tmp_path / "mine" / "dataset.json").read_text())
    assert described["splits"]["test"]["examples"] == 1 and described["splits"]["train"]["examples"] == 6


def test_ids_may_leave_numbers_out(adopt, theirs, tmp_path):
    (theirs / "x.pbtxt").write_text(
        'item { id: 1 name: "cat" }\nitem { id: 2 name: "dog" }\nitem { id: 7 name: "owl" }\n'
    )
    foreign_records.write(theirs / "b.record", foreign_records.example(90, labels=(7,)))
    assert adopt() == 0
    described = json.loads((tmp_path / "mine" / "dataset.json").read_text())
    assert described["num_classes"] == 7 and described["classes"] == ["cat", "dog", "owl"]
    assert quick.quick(str(tmp_path / "mine")) == []


def test_no_later_conversion_takes_the_records_for_its_own(adopt, theirs, tmp_path):
    assert adopt(out=f"{theirs}/described") == 0
    assert ownership.ours(str(theirs / "described")) == {".tfod-train.json", "dataset.json", "label_map.pbtxt"}
    # Also where they lie beside the description.
    description = theirs / "described" / "dataset.json"
    inside = json.loads(description.read_text())
    inside["splits"]["train"]["shards"][0]["file"] = "a.record-0"
    description.write_text(json.dumps(inside))
    assert "a.record-0" not in ownership.ours(str(theirs / "described"))


def test_adopting_again_replaces_the_description_alone(adopt, theirs, tmp_path):
    assert adopt() == 0
    foreign_records.write(theirs / "b.record", foreign_records.example(90))
    assert quick.quick(str(tmp_path / "mine")) != []
    assert adopt() == 0
    assert quick.quick(str(tmp_path / "mine")) == []


@pytest.mark.parametrize(
    "changes, refusal",
    [
        (dict(val="{theirs}/a.record-1"), (2, "a.record-1 is in both splits, train and val")),
        (dict(val="{theirs}/none.record"), (3, "There is no file or folder")),
        (dict(records="{theirs}/none-*"), (3, "No file matches")),
        (dict(records="{theirs}"), (2, "is a folder, and which of its files train")),
        (dict(label_map="{theirs}/none.pbtxt"), (2, "none.pbtxt")),
        (dict(label_map="{theirs}/b.record"), (2, "b.record")),
        (dict(out="{theirs}"), (2, "holds 4 files that this program did not write")),
        (dict(out="{theirs}/b.record"), (2, "is there, and is no folder")),
    ],
)
def test_what_cannot_be_adopted_is_refused_and_nothing_written(changes, refusal, adopt, theirs, tmp_path, capsys):
    before = contents(theirs)
    assert adopt(**{name: value.format(theirs=theirs) for name, value in changes.items()}) == refusal[0]
    assert refusal[1] in capsys.readouterr().err
    assert contents(theirs) == before and not (tmp_path / "mine").exists()


def test_a_converted_dataset_is_not_written_over(adopt, mini, capsys):
    before = (mini / "dataset.json").read_bytes()
    assert adopt(out=str(mini)) == 2
    assert "holds a dataset with records of its own" in capsys.readouterr().err
    assert (mini / "dataset.json").read_bytes() == before


def test_a_linked_file_is_the_same_file(adopt, theirs, capsys):
    os.symlink(str(theirs / "a.record-0"), str(theirs / "again.record"))
    assert adopt(val=f"{theirs}/again.record") == 2
    assert "are one file" in capsys.readouterr().err
