"""Coordinates that are no pixels are told, and converted where an option says what they are."""

import pytest

from common.errors import DataError
from data_prep.images.boxes import Box
from data_prep.source import units
from data_prep.source.annotation import Annotation, Object
from data_prep.source.reading import Reading, entry, load


def entries(*boxes, size=(640, 480), unit="pixels"):
    return [
        entry(f"{number}.jpg", "x", Annotation(size[0], size[1], [Object(Box(*box), "cat")], unit=unit))
        for number, box in enumerate(boxes)
    ]


PERCENT = [(10, 10, 95.5, 80)] * 5


@pytest.mark.parametrize(
    "found, unit",
    [
        (entries((0.1, 0.2, 0.5, 1.0)), "fraction"),
        (entries(*PERCENT), "percent"),
        (entries(*PERCENT, size=(120, 90)), None),  # small images, whose pixels these may be
        (entries(*PERCENT[:4]), None),  # too few to say
        (entries(*PERCENT, (10, 10, 101, 80)), None),
        (entries(*[(1, 1, 40, 40)] * 9), None),  # small objects in a corner
        (entries(*PERCENT, size=(0, 0)), None),  # sizes that nobody states
        (entries((0.1, 0.2, 5, 1.0)), None),
        ([], None),
    ],
)
def test_what_numbers_look_like(found, unit):
    suspicion = units.suspicion(found)
    assert (suspicion.unit if suspicion else None) == unit


def test_a_source_of_shares_is_refused_until_an_option_says_what_they_are():
    reading = Reading(entries((0.1, 0.2, 0.5, 1.0)), "")
    with pytest.raises(DataError, match="--coordinates fraction, or --coordinates pixels"):
        units.decided(reading, None, "mine")
    assert load(units.decided(reading, "fraction", "mine").entries[0]).unit == "fraction"
    assert load(units.decided(reading, "pixels", "mine").entries[0]).unit == "pixels"


def test_a_format_of_shares_is_left_as_it_is():
    reading = Reading(entries((0.1, 0.2, 0.5, 1.0), unit="fraction"), "")
    assert units.decided(reading, None, "mine") == reading
