"""Which images are for training, which for validation."""

import random

import pytest

from common.errors import DataError, UsageError
from data_prep.source import splits


def test_the_split_is_the_api_converters():
    ids = [f"pug_{number}" for number in range(101)]
    shuffled = list(ids)
    random.seed(42)
    random.shuffle(shuffled)
    assert [part.ids for part in splits.by_seed(ids)] == [shuffled[:70], shuffled[70:]]


@pytest.mark.parametrize(
    "word, split",
    [
        ("train", "train"),
        ("Training", "train"),
        ("train2017", "train"),
        ("val", "val"),
        ("valid", "val"),
        ("VALIDATION", "val"),
        ("val_2", "val"),
        ("test-1", "test"),
        ("testing", "test"),
        ("trainer", ""),
        ("latest", ""),
        ("", ""),
    ],
)
def test_words_for_splits(word, split):
    assert splits.of_word(word) == split


@pytest.mark.parametrize(
    "path, split",
    [
        ("annotations/instances_val2017.json", "val"),
        ("valid/_annotations.coco.json", "val"),
        ("train/images/a.jpg", "train"),
        ("train_labels.csv", "train"),
        ("train_val.json", ""),
        ("test\\a.json", "test"),
        ("boxes.json", ""),
    ],
)
def test_what_a_files_name_says(path, split):
    assert splits.of_path(path) == split


def stated(train=0, val=0, test=0, none=0):
    counts = {"train": train, "val": val, "test": test, "": none}
    return {f"{split}{number}": split for split, count in counts.items() for number in range(count)}


def decided(choice=None, **counts):
    return splits.decide(stated(**counts), choice or splits.Choice(), "mine")


def test_the_sources_own_split_is_taken_and_told():
    found = decided(train=3, val=2, test=1, none=1)
    assert [(split.name, len(split.ids)) for split in found.splits] == [("train", 3), ("val", 2), ("test", 1)]
    assert (found.upstream, found.left_out) == (True, ["0"])
    assert found.line == "Split: the source's own, train 3 images, val 2 images, test 1 image."


@pytest.mark.parametrize("counts", [dict(train=10), dict(none=10), dict(test=10)])
def test_a_source_of_one_split_is_split_by_seed(counts):
    found = decided(**counts)
    assert [(split.name, len(split.ids)) for split in found.splits] == [("train", 7), ("val", 3)]
    assert not found.upstream and "by the seed 42" in found.line


def test_a_split_that_is_set_aside_is_told():
    found = decided(splits.Choice("random"), train=5, val=5)
    assert not found.upstream and "the source's own (train, val) is set aside" in found.line


def test_train_and_test_alone_have_two_readings():
    with pytest.raises(DataError, match="train 10 images, test 3 images"):
        decided(train=10, test=3)
    found = decided(splits.Choice(val="test"), train=10, test=3)
    assert [(split.name, len(split.ids)) for split in found.splits] == [("train", 10), ("val", 3)]
    found = decided(splits.Choice(val="train", val_fraction=0.2), train=10, test=3)
    assert [(split.name, len(split.ids)) for split in found.splits] == [("train", 8), ("val", 2), ("test", 3)]


@pytest.mark.parametrize(
    "choice, counts",
    [(dict(split="upstream"), dict(none=4)), (dict(split="upstream"), dict(val=4, test=4)), (dict(val="test"), dict())],
)
def test_a_split_that_is_not_there_is_refused(choice, counts):
    with pytest.raises(DataError, match="no split of its own"):
        decided(splits.Choice(**choice), **counts)


def test_val_says_nothing_where_images_validate_or_the_split_is_random():
    with pytest.raises(UsageError, match="Leave out --val"):
        decided(splits.Choice(val="test"), train=2, val=2, test=2)
    with pytest.raises(UsageError, match="--split random sets them aside"):
        splits.Choice("random", val="test")
