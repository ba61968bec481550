"""Which image an annotation means: kinds of names that tools and people write."""

import os

import pytest

from data_prep.source.image_index import ImageIndex
from data_prep.source.matching import match
from data_prep.source.reading import Entry


@pytest.fixture
def found(tmp_path, encode):
    """function([image paths], [name or Entry]) -> [image, or why there is none]."""

    def find(images, names):
        for image in images:
            path = tmp_path / "set" / image
            os.makedirs(str(path.parent), exist_ok=True)
            path.write_bytes(encode())
        entries = [name if isinstance(name, Entry) else Entry(name, "a.json", None) for name in names]
        matches = match(entries, ImageIndex(str(tmp_path / "set")))
        return [each.image or each.problem for each in matches]

    return find


def stem(name, *others, **fields):
    return Entry(name, name + ".xml", None, others=others, stem=True, **fields)


@pytest.mark.parametrize(
    "images, name, image",
    [
        # An exact path, whatever else is called so.
        (["a.jpg", "x/a.jpg"], "a.jpg", "a.jpg"),
        (["a.jpg", "a.png"], "a.png", "a.png"),
        (["a.jpg", "A.jpg"], "A.jpg", "A.jpg"),
        (["a.b.jpg", "a.jpg"], "a.b.jpg", "a.b.jpg"),
        # The end of a path.
        (["images/seq1/1.jpg", "images/seq2/1.jpg"], "seq1/1.jpg", "images/seq1/1.jpg"),
        (["images/a.jpg"], "a.jpg", "images/a.jpg"),
        (["a.jpg"], "images/a.jpg", "a.jpg"),
        (["train/images/a.jpg"], "images/train/a.jpg", "train/images/a.jpg"),
        (["a.jpg"], "set/a.jpg", "a.jpg"),
        # Other machines, URLs, Windows.
        (["seq1/a.jpg", "seq2/a.jpg"], "seq1\\a.jpg", "seq1/a.jpg"),
        (["images/a b.jpg"], "https://host/data/a%20b.jpg?x=1", "images/a b.jpg"),
        (["images/a.jpg"], "C:\\Users\\me\\mine\\a.jpg", "images/a.jpg"),
        (["seq1/a.jpg", "seq2/a.jpg"], "/home/me/set9/seq2/a.jpg", "seq2/a.jpg"),
        (["a.jpg"], "./a.jpg", "a.jpg"),
        # Another extension or letter case, where nothing else is meant.
        (["a.JPG"], "a.jpg", "a.JPG"),
        (["a.png"], "a.jpg", "a.png"),
        (["Images/A.jpg"], "images/a.jpg", "Images/A.jpg"),
    ],
)
def test_the_image_that_is_meant(found, images, name, image):
    assert found(images, [name]) == [image]


@pytest.mark.parametrize(
    "images, name, why",
    [
        (["train/000.jpg"], "val/000.jpg", "(train/000.jpg is another's, or in another folder)"),
        (["one/a.jpg"], "two/a.jpg", "in another folder"),
        (["train/000.jpg"], "/home/me/val/000.jpg", "in another folder"),
        (["one/a.jpg", "two/a.jpg"], "a.jpg", "several images of this name: one/a.jpg, two/a.jpg"),
        (["a.png", "a.bmp"], "a.jpg", "several images of this name: a.bmp, a.png"),
        (["aa.jpg"], "a.jpg", "no image of this name"),
        (["a.jpg"], "../..", "no image of this name"),
    ],
)
def test_what_is_another_image_is_never_taken(found, images, name, why):
    assert why in found(images, [name])[0]


def test_an_image_that_one_names_is_not_anothers_for_its_stem(found):
    first, second = found(["a.jpg"], ["a.jpg", "a.png"])
    assert first == "a.jpg" and "a.jpg is another's" in second


def test_an_image_that_two_names_lead_to_loosely_belongs_to_neither(found):
    for reason in found(["a.jpg"], ["a.png", "a.bmp"]):
        assert reason == "a.jpg is meant by several names: a.bmp, a.png"


def test_names_are_seen_from_the_file_that_holds_them(found):
    entries = [Entry("a.jpg", "train/a.json", None, folder="train"), Entry("a.jpg", "test/a.json", None, folder="test")]
    assert found(["train/a.jpg", "test/a.jpg"], entries) == ["train/a.jpg", "test/a.jpg"]


def test_the_image_of_another_split_is_not_taken(found):
    entry = Entry("a.jpg", "valid/x.json", None, folder="valid")
    assert "no image of this name" in found(["train/a.jpg"], [entry])[0]
    entry = Entry("a.jpg", "instances_val.json", None, split="val")
    assert "no image of this name" in found(["train2017/a.jpg"], [entry])[0]


@pytest.mark.parametrize(
    "images, entry, image",
    [
        (["a.jpg", "a.png"], stem("a", "a.png"), "a.png"),
        (["images/x.jpg", "trimaps/x.png"], stem("xmls/x"), "images/x.jpg"),
        (["pictures/x.jpg"], stem("boxes/x"), "pictures/x.jpg"),
        (["one/x.jpg", "two/y.jpg"], stem("one/old", "one/x.jpg"), "one/x.jpg"),
        (["one/x.jpg", "two/x.jpg"], stem("boxes/old", "boxes/x.jpg", "two/x.jpg"), "two/x.jpg"),
    ],
)
def test_an_annotation_beside_its_image_or_in_a_parallel_folder(found, images, entry, image):
    assert found(images, [entry]) == [image]


@pytest.mark.parametrize(
    "images, entry, why",
    [
        (["a.jpg", "a.png"], stem("a"), "several images of this name: a.jpg, a.png"),
        (["one/x.jpg", "two/y.jpg"], stem("boxes/x"), "in another folder"),
    ],
)
def test_a_stem_with_two_readings_is_told(found, images, entry, why):
    assert why in found(images, [entry])[0]


def test_what_says_that_nothing_is_in_an_image_is_not_missed_where_that_is_not_there(found):
    assert found(["a.jpg"], [Entry("b", "v.xml", None, optional=True)]) == []
