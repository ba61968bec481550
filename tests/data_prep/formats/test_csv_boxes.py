"""CSV with a line a box: whose columns mean what, and lines that are wrong."""

import pytest

from data_prep.formats import csv_boxes
from data_prep.images.boxes import Box
from tests.data_prep.formats.truth import as_open_images


def test_other_names_of_open_images_codes_are_another_source(folder):
    """Else a dataset of before would count as complete, its classes exchanged."""
    as_open_images(folder)
    before = csv_boxes.read(str(folder.root)).digest
    folder.write("class-descriptions-boxable.csv", "/m/01,dog\n/m/02,cat\n")
    assert csv_boxes.read(str(folder.root)).digest != before


def read_one(folder, *lines):
    """The entries of a table and its problems' reasons."""
    folder.write("labels.csv", "\n".join(lines))
    reading = csv_boxes.read(str(folder.root))
    return reading.entries, [problem.why for problem in reading.problems]


def test_columns_are_known_by_their_names_in_any_order(folder):
    entries, problems = read_one(
        folder, "split\tbottom\tright\ttop\tleft\tLabel\tFile", "valid\t40\t30\t20\t10\tcat\ta.jpg"
    )
    assert problems == [] and [(each.name, each.split, each.classes) for each in entries] == [
        ("a.jpg", "val", ("cat",))
    ]
    assert entries[0].annotation.objects[0].box == Box(10, 20, 30, 40)


@pytest.mark.parametrize("column, unit, stem", [("ImageID", "fraction", True), ("image_id", "pixels", False)])
def test_open_images_gives_shares_and_ids_without_an_extension(folder, column, unit, stem):
    (entry,), _ = read_one(folder, f"{column},LabelName,XMin,XMax,YMin,YMax", "a,cat,0.1,0.5,0.2,0.4")
    assert (entry.unit, entry.stem, entry.annotation.objects[0].box) == (unit, stem, Box(0.1, 0.2, 0.5, 0.4))


def test_an_image_without_a_box_is_an_entry_without_objects(folder):
    entries, problems = read_one(folder, "a.jpg,1,2,3,4,cat", "b.jpg,,,,,")
    assert (problems, [(each.name, len(each.annotation.objects)) for each in entries]) == (
        [],
        [("a.jpg", 1), ("b.jpg", 0)],
    )


def test_a_code_of_open_images_without_a_name_is_a_row(folder):
    as_open_images(folder)
    folder.write("class-descriptions-boxable.csv", "/m/01,cat\n")
    problems = csv_boxes.read(str(folder.root)).problems
    assert {problem.why for problem in problems} == {"it is of a class /m/02 that class-descriptions does not name"}
    assert [problem.where for problem in problems] == ["annotations-bbox.csv, line 3", "annotations-bbox.csv, line 4"]


@pytest.mark.parametrize(
    "text, is_one",
    [
        ("filename,class,xmin,ymin,xmax,ymax\n", True),
        ("filename,class,xmin,ymin,xmax\n", False),
        ("a.jpg,1,2,3,4,cat\n", True),
        ("a.jpg,b,c,d,e,cat\n", False),
        ("", False),
    ],
)
def test_a_table_needs_an_image_a_class_and_four_sides(text, is_one):
    assert csv_boxes.is_table("x.csv", text.encode()) == is_one
