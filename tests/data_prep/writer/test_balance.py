"""What is unusual about a dataset as a whole."""

import pytest

from data_prep.writer import balance


def digest(number):
    return bytes([number]) * balance.DIGEST_BYTES


@pytest.mark.parametrize(
    "boxes, kinds",
    [
        ({"train": {"cat": 5, "dog": 1}, "val": {"cat": 1, "dog": 1}}, []),
        ({"train": {"cat": 5}, "val": {"cat": 0}}, ["split-without-boxes"]),
        ({"train": {"cat": 5}, "val": {}}, ["split-without-boxes"]),
        ({"train": {"cat": 5, "dog": 0}, "val": {"cat": 1, "dog": 3}}, ["class-in-one-split"]),
        ({"train": {"cat": 5, "dog": 0}, "val": {"cat": 1, "dog": 0}}, []),  # in neither: not a matter of splits
        ({"train": {"cat": 0}, "val": {"cat": 0}}, []),
    ],
)
def test_what_numbers_show(boxes, kinds):
    assert [kind for kind, _ in balance.of_counts(boxes)] == kinds


def test_a_class_of_one_split_is_told_with_its_numbers():
    boxes = {"train": {"cat": 5, "dog": 1}, "val": {"cat": 2, "dog": 0}, "test": {"cat": 1, "dog": 0}}
    assert balance.of_counts(boxes)[0][1] == "dog has 1 box in train, 0 boxes in val, 0 boxes in test"


def test_a_class_that_nobody_labelled_is_told():
    """As the first category of a Roboflow export, which is no class of its objects."""
    splits = {
        "train": {"boxes_per_class": {"fruit": 0, "pear": 3}},
        "val": {"boxes_per_class": {"fruit": 0, "pear": 1}},
    }
    assert balance.of_classes(splits) == ["1 class has no box at all: fruit"]
    assert balance.of_classes({"train": {"boxes_per_class": {"pear": 3}}}) == []


def test_images_of_two_splits_are_told_and_those_twice_in_one_are_not():
    nothing = bytes(balance.DIGEST_BYTES)
    splits = [("train", ["a", "b", "c"], digest(1) + digest(1) + nothing), ("val", ["d", "e"], digest(1) + nothing)]
    assert balance.of_images(splits) == ["1 image of train, val is the same file: a = b = d"]
    assert balance.of_images(splits[:1]) == []
