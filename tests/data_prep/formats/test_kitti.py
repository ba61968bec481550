"""KITTI's label files: which lines are labels, and regions that say nothing."""

import pytest

from data_prep.formats import kitti
from data_prep.images.boxes import Box

CAR = "Car 0.40 0 -1.5 10 20 30 40 1 1 1 1 1 1 0.1"
DONT_CARE = "DontCare -1 -1 -10 1 1 5 5 -1 -1 -1 -1000 -1000 -1000 -10"


def read_one(folder, *lines):
    """The one entry of a file of lines, and the problems."""
    folder.write("a.txt", "\n".join(lines))
    reading = kitti.read(str(folder.root))
    (entry,) = reading.entries
    return entry, [(problem.where, problem.why) for problem in reading.problems]


def test_a_region_that_nobody_cares_for_is_left_out_and_told(folder):
    entry, problems = read_one(folder, CAR, DONT_CARE)
    (item,) = entry.annotation.objects
    assert (item.name, item.box, item.truncated, problems) == ("Car", Box(10, 20, 30, 40), 1, [])
    assert entry.note == "DontCare regions were left out"
    assert read_one(folder, CAR)[0].note == ""


def test_a_detection_is_no_label(folder):
    entry, problems = read_one(folder, CAR, CAR + " 0.9")
    assert len(entry.annotation.objects) == 1
    assert problems == [("a.txt, line 2", "it has a score: a detection, not a label")]


def test_an_empty_file_is_an_image_without_objects(folder):
    entry, problems = read_one(folder, "")
    assert (entry.name, entry.stem, entry.annotation.objects, problems) == ("a", True, [], [])


@pytest.mark.parametrize(
    "text, is_one", [(CAR, True), (CAR + "\n\n" + DONT_CARE, True), (CAR + " 0.9", False), ("", False)]
)
def test_a_file_of_labels_has_fifteen_fields_a_line(text, is_one):
    assert kitti.is_labels("a.txt", text.encode()) == is_one
