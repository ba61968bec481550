"""YOLO's text files: what names the classes, and what states the split."""

import os

import pytest

from common.errors import DataError
from tests.data_prep.formats.truth import TRUTH, Folder, as_yolo, boxes, convert
from tests.data_prep.prepared import examples


def test_yolos_folders_and_data_yaml_are_the_split(folder, tmp_path, encode):
    root = Folder(tmp_path / "other", encode)
    root.write("data.yaml", "path: .\ntrain: images/one\nval: images/two\nnames: {0: cat}\n")
    for part in ("one", "two"):
        for number in (1, 2):
            root.image(f"images/{part}/{part}{number}.jpg")
            root.write(f"labels/{part}/{part}{number}.txt", "0 0.5 0.5 0.5 0.5\n")
    for name in TRUTH:
        os.unlink(str(root.root / name))
    dataset = convert("yolo", root, tmp_path / "out")
    assert {name: split["examples"] for name, split in dataset["splits"].items()} == {"train": 2, "val": 2}
    assert all(name.startswith("images/one/") for name in examples(tmp_path / "out", "train"))


def test_classes_without_names_are_refused(folder, tmp_path):
    as_yolo(folder)
    os.unlink(str(folder.root / "data.yaml"))
    with pytest.raises(DataError, match="names the classes of YOLO's numbers"):
        convert("yolo", folder, tmp_path / "out")
    (tmp_path / "map.pbtxt").write_text('item { id: 1 name: "cat" } item { id: 2 name: "dog" }')
    convert("yolo", folder, tmp_path / "out", label_map=str(tmp_path / "map.pbtxt"))
    assert boxes(tmp_path / "out") == TRUTH


def test_two_lists_of_classes_that_differ_are_refused(folder, tmp_path):
    as_yolo(folder)
    folder.write("classes.txt", "dog\ncat\n")
    with pytest.raises(DataError, match="classes.txt in .* name the classes differently"):
        convert("yolo", folder, tmp_path / "out")


def test_labels_may_be_called_like_splits(tmp_path, encode):
    folder = Folder(tmp_path / "source", encode)
    folder.write("classes.txt", "cat\n")
    for name in ("train1", "train_0002", "test", "val-3"):
        folder.image(f"{name}.jpg")
        folder.write(f"{name}.txt", "0 0.5 0.5 0.5 0.5\n")
    folder.write("train.txt", "images/train1.jpg\n")
    dataset = convert("yolo", folder, tmp_path / "out")
    assert set(examples(tmp_path / "out")) == {"train1.jpg", "train_0002.jpg", "test.jpg", "val-3.jpg"}
    assert {"count": 1, "names": ["train.txt"], "reason": "no annotation of this format"} in dataset["unused"]


def test_lists_of_images_are_yolos_split_too(folder, tmp_path):
    """As darknet has it: paths of another machine, one a line."""
    as_yolo(folder)
    folder.write("data.yaml", "names: [cat, dog]\ntrain: lists/train.txt\nval: lists/val.txt\n")
    folder.write("lists/train.txt", "/home/me/set/a.jpg\n/home/me/set/b.jpg\n")
    folder.write("lists/val.txt", "/home/me/set/c d.jpg\n/home/me/set/é.jpg\n")
    convert("yolo", folder, tmp_path / "out")
    assert set(examples(tmp_path / "out", "train")) == {"a.jpg", "b.jpg"}
    assert set(examples(tmp_path / "out", "val")) == {"c d.jpg", "é.jpg"}
