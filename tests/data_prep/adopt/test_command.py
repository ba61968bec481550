"""`data_prep adopt`: somebody's records are described as they are, or refused by name; nothing of theirs changes."""

import gzip
import json
import os
import shutil

import pytest

from data_prep.__main__ import main
from data_prep.check import quick
from data_prep.tfrecord import codec
from tests.data_prep import foreign_records as foreign
from tests.data_prep.foreign_records import example, write

MAP = 'item { id: 1 name: "cat" }\nitem { id: 3 name: "dog" }\n'  # with a gap, as COCO's has them


class Records:
    """A folder of somebody's records: eight that train in two files, two that validate, a label map."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        for number in range(2):
            self.write(f"train.record-0000{number}-of-00002", *[example(4 * number + image) for image in range(4)])
        self.write("val.record", example(10, labels=[3]), example(11, boxes=(), labels=()))
        (folder / "map.pbtxt").write_text(MAP, encoding="utf-8")

    def write(self, name, *payloads):
        return write(self.folder / name, *payloads)

    def adopt(self, out, records="train.record-*", val="val.record", label_map="map.pbtxt", more=()):
        return main(
            ["adopt", "--records", str(self.folder / records), "--val", str(self.folder / val)]
            + ["--label-map", str(self.folder / label_map), "--out", str(out)]
            + list(more)
        )

    def content(self):
        return {name: (self.folder / name).read_bytes() for name in os.listdir(str(self.folder))}


@pytest.fixture
def own(tmp_path):
    return Records(tmp_path / "mine")


def described(out):
    return json.loads((out / "dataset.json").read_text(encoding="utf-8"))


def test_every_record_is_counted_and_nothing_of_theirs_is_touched(own, tmp_path, capsys):
    before, out = own.content(), tmp_path / "out"
    assert own.adopt(out) == 0
    assert own.content() == before
    assert sorted(os.listdir(str(out))) == [".tfod-train.json", "dataset.json", "label_map.pbtxt"]
    dataset = described(out)
    assert (dataset["adopted"], dataset["num_classes"], dataset["classes"]) == (True, 3, ["cat", "dog"])
    assert {name: (split["examples"], split["boxes"]) for name, split in dataset["splits"].items()} == {
        "train": (8, 8),
        "val": (2, 1),
    }
    assert dataset["splits"]["val"]["boxes_per_class"] == {"cat": 0, "dog": 1}
    assert (dataset["most_boxes"], dataset["picture_sizes"]["width"]["median"]) == (1, foreign.WIDTH)
    assert "load_instance_masks" not in dataset["config"]
    assert quick.quick(str(out)) == []
    said = capsys.readouterr().out
    assert "train: 8 images with 8 boxes in 2 files; val: 2 images with 1 box in 1 file; 2 classes" in said
    assert "A class is in some of the splits alone" in said


def test_check_and_show_work_on_what_was_adopted(own, tmp_path, capsys):
    own.adopt(tmp_path / "out")
    assert main(["check", str(tmp_path / "out")]) == 0
    assert "is fit for training: 10 records" in capsys.readouterr().out
    assert main(["show", str(tmp_path / "out")]) == 0
    payloads = list(codec.read(str(own.folder / "val.record")))
    own.write("val.record", payloads[0].replace(b"10.jpg", b"12.jpg"), payloads[1])
    assert quick.quick(str(tmp_path / "out")) == []  # of the same size, with a sound first record
    assert main(["check", "--json", str(tmp_path / "out")]) == 3
    assert "its sha256 is another one" in capsys.readouterr().out


@pytest.mark.parametrize(
    "mask, mask_type",
    [(codec.Texts([foreign.image(kind="PNG")]), "PNG_MASKS"), (codec.Floats([1.0] * 1200), "NUMERICAL_MASKS")],
)
def test_masks_are_found_with_their_type(own, tmp_path, mask, mask_type):
    for number in range(2):
        own.write(f"train.record-0000{number}-of-00002", example(number, object__mask=mask))
    own.write("val.record", example(10, object__mask=mask))
    assert own.adopt(tmp_path / "out") == 0
    assert described(tmp_path / "out")["config"]["mask_type"] == mask_type


def test_an_image_of_more_boxes_than_the_api_reads_by_itself_raises_that_number(own, tmp_path):
    own.write("val.record", example(10, boxes=[(0.1, 0.1, 0.5, 0.5)] * 120, labels=[1] * 120))
    assert own.adopt(tmp_path / "out") == 0
    dataset = described(tmp_path / "out")
    assert (dataset["most_boxes"], dataset["config"]["max_number_of_boxes"]) == (120, 120)


def test_a_test_split_is_kept(own, tmp_path):
    own.write("test.record", example(20))
    assert own.adopt(tmp_path / "out", more=["--test", str(own.folder / "test.record")]) == 0
    assert described(tmp_path / "out")["splits"]["test"]["examples"] == 1


def test_files_beside_the_dataset_are_named_so_that_both_may_move_and_others_absolutely(own, tmp_path, capsys):
    own.adopt(tmp_path / "out")
    names = [shard["file"] for shard in described(tmp_path / "out")["splits"]["train"]["shards"]]
    assert names[0] == "../mine/train.record-00000-of-00002" and "absolute" not in capsys.readouterr().out
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("mine", "out"):
        shutil.copytree(str(tmp_path / name), str(moved / name))
    shutil.rmtree(str(own.folder))
    assert quick.quick(str(moved / "out")) == [] != quick.quick(str(tmp_path / "out"))
    shutil.copytree(str(moved / "mine"), str(own.folder))
    (tmp_path / "data").mkdir()
    own.adopt(tmp_path / "data" / "out")
    assert described(tmp_path / "data" / "out")["splits"]["val"]["shards"][0]["file"] == str(own.folder / "val.record")
    assert "3 of 3 files are named by absolute paths" in capsys.readouterr().out


def test_adopted_again_it_is_the_same_and_a_change_shows(own, tmp_path):
    out = tmp_path / "out"
    own.adopt(out)
    first = described(out)
    assert own.adopt(out) == 0 and described(out) == first
    own.write("val.record", example(10))
    (problem,) = quick.quick(str(out))
    assert "mine/val.record has" in problem
    assert own.adopt(out) == 0 and quick.quick(str(out)) == []


def test_a_conversion_into_the_same_folder_leaves_the_records_alone(own, raw, tmp_path):
    out = tmp_path / "out"
    own.adopt(out)
    before = own.content()
    raw.convert(out)
    assert own.content() == before and "adopted" not in described(out)


def test_records_that_were_moved_into_the_folder_are_not_taken_for_ours(own, raw, tmp_path, capsys):
    out = tmp_path / "out"
    own.adopt(out)
    dataset = described(out)
    os.rename(str(own.folder / "val.record"), str(out / "val.record-00000-of-00001"))
    dataset["splits"]["val"]["shards"][0]["file"] = "val.record-00000-of-00001"
    (out / "dataset.json").write_text(json.dumps(dataset), encoding="utf-8")
    arguments = ["pets", "--source", raw.root, "--out", str(out), "--shards", "1", "--force"]
    assert main(arguments) == 2 and "val.record-00000-of-00001" in capsys.readouterr().err
    assert (out / "val.record-00000-of-00001").exists()


def damaged(own):
    path = own.folder / "train.record-00001-of-00002"
    content = bytearray(path.read_bytes())
    content[-40] ^= 1
    path.write_bytes(bytes(content))


def zipped(own):
    path = own.folder / "val.record"
    path.write_bytes(gzip.compress(path.read_bytes()))


@pytest.mark.parametrize(
    "spoil, code, words",
    [
        (lambda own: own.write("val.record", example(10, labels=[7])), 3, "val.record @ byte 0: 10.jpg: A class id is"),
        (lambda own: own.write("val.record", example(10, labels=[2])), 3, "id 2, which the label map does not have"),
        (lambda own: own.write("val.record", example(10, texts=["cow"])), 3, "A class text is not in the label map"),
        (lambda own: own.write("val.record", example(10, texts=["dog"])), 3, "dog is 3 in the label map and 1 here"),
        (lambda own: own.write("val.record", example(10), example(10)), 3, "share an image/source_id"),
        (lambda own: own.write("val.record", example(10, boxes=[(4.0, 2, 30, 20)])), 3, "given in pixels"),
        (lambda own: own.write("val.record", example(10, encoded=None)), 3, "has no image"),
        (damaged, 3, "train.record-00001-of-00002 @ byte"),
        (zipped, 3, "a gzip file; the API reads TFRecords that are not compressed: unpack it with gzip -dc"),
        (lambda own: (own.folder / "val.record").write_bytes(b""), 3, "val.record: A file holds no record"),
        (lambda own: (own.folder / "val.record").unlink(), 3, "There is no file or folder"),
        (lambda own: own.write("train.record-00003-of-00004", example(30)), 0, ""),
        (lambda own: (own.folder / "map.pbtxt").unlink(), 2, "map.pbtxt cannot be used: No such file"),
        (lambda own: (own.folder / "map.pbtxt").write_text("cat, dog"), 2, "map.pbtxt cannot be used: it is no label"),
        (lambda own: os.link(str(own.folder / "val.record"), str(own.folder / "train.record-x")), 2, "are one file"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_by_file_and_place_and_nothing_is_written(
    own, tmp_path, capsys, spoil, code, words
):
    spoil(own)
    before = own.content()
    assert own.adopt(tmp_path / "out") == code
    assert words in capsys.readouterr().err
    assert own.content() == before and (tmp_path / "out").exists() == (not code)


def test_a_missing_shard_is_named(own, tmp_path, capsys):
    own.write("train.record-00001-of-00003", example(30))
    os.rename(str(own.folder / "train.record-00000-of-00002"), str(own.folder / "train.record-00000-of-00003"))
    os.unlink(str(own.folder / "train.record-00001-of-00002"))
    assert own.adopt(tmp_path / "out") == 3
    assert "train.record-00002-of-00003: Shards of a set are missing" in capsys.readouterr().err


def test_the_shards_of_one_set_may_be_divided_between_the_splits(own, tmp_path):
    first, second = "train.record-00000-of-00002", "train.record-00001-of-00002"
    assert own.adopt(tmp_path / "out", first, second) == 0
    os.rename(str(own.folder / "val.record"), str(own.folder / "train.record-00000-of-00003"))
    for number, name in ((1, first), (2, second)):
        os.rename(str(own.folder / name), str(own.folder / f"train.record-0000{number}-of-00003"))
    assert own.adopt(tmp_path / "out", "train.record-0000[01]-of-00003", "train.record-00002-of-00003") == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(val="train.record-00001-of-00002"), "train.record-00001-of-00002 is in both splits, train and val"),
        (dict(val=""), "is a folder, and which of its files train and which validate is not known"),
    ],
)
def test_files_that_are_in_no_one_split_are_refused(own, tmp_path, capsys, arguments, words):
    assert own.adopt(tmp_path / "out", **arguments) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name, words", [("val[1].record", "for a pattern"), (b"val\xff.record", "no text in UTF-8")])
def test_a_name_that_a_config_cannot_have_is_refused(own, tmp_path, capsys, name, words):
    name = os.fsdecode(name)
    os.rename(str(own.folder / "val.record"), os.path.join(str(own.folder), name))
    assert own.adopt(tmp_path / "out", val=name) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_folder_that_is_not_ours_is_left_alone(own, raw, tmp_path, capsys):
    before = own.content()
    assert own.adopt(own.folder) == 2
    assert own.content() == before and "that this program did not write" in capsys.readouterr().err
    raw.convert(tmp_path / "pets")
    shards = sorted(os.listdir(str(tmp_path / "pets")))
    assert own.adopt(tmp_path / "pets") == 2
    assert "holds a dataset with records of its own" in capsys.readouterr().err
    assert sorted(os.listdir(str(tmp_path / "pets"))) == shards
    assert own.adopt(own.folder / "map.pbtxt") == 2
    assert "is there, and is no folder" in capsys.readouterr().err


def test_by_default_it_is_called_as_the_records_folder(own, tmp_path, monkeypatch):
    monkeypatch.chdir(str(tmp_path))
    arguments = ["--records", "mine/train.record-*", "--val", "mine/val.record", "--label-map", "mine/map.pbtxt"]
    assert main(["adopt"] + arguments) == 0
    assert quick.quick("data/mine-adopted") == []


def test_ids_may_leave_numbers_out(adopt, theirs, tmp_path):
    (theirs / "x.pbtxt").write_text(
        'item { id: 1 name: "cat" }\nitem { id: 2 name: "dog" }\nitem { id: 7 name: "owl" }\n'
    )
    foreign.write(theirs / "b.record", foreign.example(90, labels=(7,)))
    assert adopt() == 0
    described = json.loads((tmp_path / "mine" / "dataset.json").read_text())
    assert described["num_classes"] == 7 and described["classes"] == ["cat", "dog", "owl"]
    assert quick.quick(str(tmp_path / "mine")) == []


def test_a_converted_dataset_is_not_written_over(adopt, mini, capsys):
    before = (mini / "dataset.json").read_bytes()
    assert adopt(out=str(mini)) == 2
    assert "holds a dataset with records of its own" in capsys.readouterr().err
    assert (mini / "dataset.json").read_bytes() == before


def test_a_linked_file_is_the_same_file(adopt, theirs, capsys):
    os.symlink(str(theirs / "a.record-0"), str(theirs / "again.record"))
    assert adopt(val=f"{theirs}/again.record") == 2
    assert "are one file" in capsys.readouterr().err
