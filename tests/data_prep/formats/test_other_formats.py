"""YOLO, CSV, LabelMe, VIA, KITTI, Label Studio and VoTT: the same boxes, written by a small writer of each format here,
come out of every one of them; what a file says wrongly is one row with its place."""

import pytest

from common.errors import DataError
from tests.data_prep.formats.truth import EVERY, MODULES, TRUTH, as_csv, as_kitti, as_yolo, boxes, convert


@pytest.mark.parametrize("name, write", EVERY, ids=[write.__name__ for _, write in EVERY])
def test_every_format_gives_the_same_boxes(folder, tmp_path, name, write):
    write(folder)
    dataset = convert(name, folder, tmp_path / "out")
    assert boxes(tmp_path / "out") == TRUTH
    assert (dataset["classes"], dataset["skipped"], dataset["problems"]) == (["cat", "dog"], [], [])


@pytest.mark.parametrize(
    "case",
    [
        ("yolo", as_yolo, "b.txt", "0 0.5 0.5 0.1", "it has 4 numbers"),
        ("yolo", as_yolo, "b.txt", "0 0.5 0.5 0.1 0.1 0.9", "a prediction with its confidence"),
        ("yolo", as_yolo, "b.txt", "7 0.5 0.5 0.1 0.1", "a class 7 that has no name"),
        ("yolo", as_yolo, "b.txt", "0 0.5 0.5 nan 0.1", "it is no label"),
        ("kitti", as_kitti, "b.txt", "cat 1 2 3", "it has 4 fields"),
        ("kitti", as_kitti, "b.txt", "cat 0.00 0 -1.5 a b c d 1 1 1 1 1 1 0.1", "cannot be read"),
        ("csv", as_csv, "labels.csv", "b.jpg,80,60,cat,1,2,x,4", "its box cannot be read"),
        ("csv", as_csv, "labels.csv", ",80,60,cat,1,2,3,4", "it names no image"),
        ("csv", as_csv, "labels.csv", "b.jpg,90,60,cat,1,2,3,4", "it says 90x60"),
    ],
)
def test_a_line_that_is_wrong_is_one_row_with_its_number(folder, tmp_path, case):
    name, write, file, line, why = case
    write(folder)
    text = (folder.root / file).read_text(encoding="utf-8").rstrip("\n") + f"\n{line}\n"
    folder.write(file, text)
    dataset = convert(name, folder, tmp_path / "out")
    (problem,) = dataset["problems"]
    assert problem["where"] == f"{file}, line {len(text.splitlines())}" and why in problem["why"]
    assert boxes(tmp_path / "out") == TRUTH


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_folder_without_its_annotations_is_refused(folder, tmp_path, name):
    if name == "yolo":
        folder.write("classes.txt", "cat\n")
    with pytest.raises(DataError, match=f"{folder.root} holds no "):
        convert(name, folder, tmp_path / "out")
    with pytest.raises(DataError, match="There is no folder"):
        MODULES[name].read(str(tmp_path / "nowhere"))
