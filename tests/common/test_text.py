"""Words for people: one line whatever a file holds, numbers with their noun, the name that was meant."""

import pytest

from common import text


def test_text_of_a_file_is_one_line_that_a_terminal_can_show():
    assert text.printable("a\nb\x1b[2J\u732b") == "a\ufffdb\ufffd[2J\u732b"
    assert text.printable("x" * 121) == "x" * 120 + "..." and text.printable("x" * 120) == "x" * 120


@pytest.mark.parametrize(
    "arguments, shown", [((1, "image"), "1 image"), ((0, "image"), "0 images"), ((2, "box", "boxes"), "2 boxes")]
)
def test_a_number_has_its_noun(arguments, shown):
    assert text.counted(*arguments) == shown


def test_the_name_that_was_meant_is_the_nearest_or_none():
    assert text.nearest("mirored", ["clone", "mirrored"]) == "mirrored"
    assert text.nearest("zzz", ["clone", "mirrored"]) is None
    assert text.did_you_mean("clones", ["clone"], "Take clone.") == "Did you mean clone?"
    assert text.did_you_mean("zzz", ["clone"], "Take clone.") == "Take clone."
