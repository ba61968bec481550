"""How sizes, boxes, lists and errors are named."""

import pytest

from data_prep import wording


def test_sizes_and_boxes_have_no_needless_digits():
    assert wording.size_text((40, 30)) == "40x30"
    assert wording.box_text([1.0, 0.25, 1e-7, float("nan")]) == "[1, 0.25, 1e-07, nan]"


def test_a_file_name_that_is_no_utf_8_can_be_shown():
    assert wording.name_text("b\udcffd.jpg") == "b\\udcffd.jpg"
    assert wording.name_text("猫.jpg") == "猫.jpg"


@pytest.mark.parametrize(
    "names, count, most, text",
    [
        (["a", "b"], 2, 3, "a, b"),
        (["a", "b", "c", "d"], 4, 3, "a, b, c and 1 more"),
        (["a", "b"], 9, 3, "a, b and 7 more"),  # the first ones alone are known
        ([], 0, 3, ""),
    ],
)
def test_of_many_names_the_first_are_named_and_the_others_counted(names, count, most, text):
    assert wording.some(names, count, most) == text


@pytest.mark.parametrize(
    "error, line",
    [
        (ValueError("torn\nat byte 3"), "torn"),
        (OSError("cannot identify image file <_io.BytesIO object at 0x7f>"), "no image"),
        (KeyError(), "KeyError"),
    ],
)
def test_an_error_is_its_first_line_without_what_differs_from_run_to_run(error, line):
    assert wording.first_line(error, "no image") == line
