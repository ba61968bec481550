"""Annotations of one image in several files: alike they are one, different they are refused."""

import pytest

from data_prep.images.boxes import Box
from data_prep.source.annotation import Annotation, Object
from data_prep.source.matching import Match
from data_prep.source.merging import one_each
from data_prep.source.reading import entry

CAT, DOG = Object(Box(1.0, 2.0, 3.0, 4.0), "cat"), Object(Box(5.0, 6.0, 7.0, 8.0), "dog")


def match(where, *objects, image="a.jpg", **fields):
    return Match(entry(image, where, Annotation(0, 0, list(objects)), **fields), image)


@pytest.mark.parametrize(
    "other",
    [
        (CAT, DOG),
        (DOG, CAT),  # another order
        (CAT._replace(box=Box(1.001, 2.0, 3.0, 4.0)), DOG),  # another rounding
        (CAT._replace(difficult=1), DOG),
    ],
)
def test_what_is_alike_is_one_record(other):
    (found,) = one_each([match("one.xml", CAT, DOG), match("two.xml", *other)])
    assert (found.image, found.note) == ("a.jpg", "annotated 2 times, all alike: in one.xml, two.xml")


@pytest.mark.parametrize(
    "other", [(CAT,), (), (CAT, CAT), (CAT, DOG._replace(name="cat")), (CAT._replace(box=Box(1.1, 2, 3, 4)), DOG)]
)
def test_what_differs_is_refused_by_name(other):
    (found,) = one_each([match("one.xml", CAT, DOG), match("two.xml", *other)])
    assert found.image is None
    assert found.problem == "a.jpg is annotated 2 times and differently: in one.xml, two.xml"


def test_one_that_cannot_be_read_may_say_anything():
    def broken():
        raise ValueError("no xml")

    (found,) = one_each([match("one.xml", CAT), match("two.xml", CAT, annotation=broken)])
    assert found.image is None


def test_two_splits_are_refused_and_one_that_is_stated_counts():
    found = one_each([match("one.json", CAT, split="train"), match("two.json", CAT, split="val")])
    assert found[0].problem == "a.jpg is put into train and val: in one.json, two.json"
    found = one_each([match("all.json", CAT), match("val.json", CAT, split="val")])
    assert found[0].entry.split == "val"


def test_other_images_stay_in_their_order():
    found = one_each(
        [match("1", CAT), match("2", CAT, image="b.jpg"), match("3", CAT), Match(found_none(), None, "no")]
    )
    assert [each.image for each in found] == ["a.jpg", "b.jpg", None]


def found_none():
    return entry("c.jpg", "4", Annotation(0, 0, []))
