"""What a name in an annotation says; test_matching.py has which image is meant by it."""

import unicodedata

import pytest

from data_prep.source import image_names


@pytest.mark.parametrize(
    "text, path, foreign",
    [
        (" a.jpg ", "a.jpg", False),
        ("train\\a.jpg", "train/a.jpg", False),
        ("./x/../a.jpg", "a.jpg", False),
        ("C:\\data\\a.jpg", "data/a.jpg", True),
        ("c:a.jpg", "c:a.jpg", False),
        ("/home/me/a.jpg", "home/me/a.jpg", True),
        ("../a.jpg", "a.jpg", True),
        ("x/../../a.jpg", "a.jpg", True),
        ("https://host/x/a%20b.jpg?size=1#top", "x/a b.jpg", True),
        ("a%20b.jpg", "a%20b.jpg", False),
        (unicodedata.normalize("NFD", "é.jpg"), unicodedata.normalize("NFC", "é.jpg"), False),
        ("..", "", True),
    ],
)
def test_a_name_is_parts_and_whether_it_is_of_another_machine(text, path, foreign):
    name = image_names.read(text)
    assert (name.path, name.foreign) == (path, foreign)


@pytest.mark.parametrize(
    "short, long, fits",
    [
        (("a",), ("x", "a"), True),
        (("x", "a"), ("x", "a"), True),
        (("x", "a"), ("a",), False),
        (("y", "a"), ("x", "a"), False),
        ((), ("a",), False),
    ],
)
def test_a_path_ends_in_another_part_by_part(short, long, fits):
    assert image_names.is_tail(short, long) == fits


def test_folders_that_only_say_what_is_in_them_are_left_out_and_a_file_called_so_is_not():
    assert image_names.without_kinds(("set", "Images", "train", "labels")) == ("set", "train", "labels")
