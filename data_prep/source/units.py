"""Boxes that are given as shares of the image's sides where pixels should stand: told before anything is written."""

import functools
from typing import NamedTuple, Optional, Sequence

from common.errors import DataError
from data_prep.source.reading import Entry, Reading, load

# A tool that writes percent fills the range; boxes in pixels that all lie in the first hundred of large images do not.
_ENTRIES, _SIDE, _REACH = 5, 200, 50.0


class Suspicion(NamedTuple):
    """unit: of data_prep.images.frame.UNITS, what the numbers look like. why: the end of a sentence."""

    unit: str
    why: str


def suspicion(entries: Sequence[Entry]) -> Optional[Suspicion]:
    """What the coordinates of all entries look like, if that is not pixels."""
    boxed = [entry for entry in entries if entry.largest > 0]
    if not boxed:
        return None
    largest = max(entry.largest for entry in boxed)
    if largest <= 1:
        return Suspicion("fraction", f"all coordinates lie between 0 and {largest:g}")
    sides = [min(entry.size) for entry in boxed if min(entry.size) > 0]
    if len(boxed) >= _ENTRIES and _REACH < largest <= 100 and len(sides) == len(boxed) and min(sides) >= _SIDE:
        return Suspicion(
            "percent", f"all coordinates lie between 0 and {largest:g}, on images of {min(sides)} and more"
        )
    return None


def decided(reading: Reading, option: Optional[str], where: str) -> Reading:
    """The reading with the unit of its boxes as an option says, or as it is where the numbers fit it.

    Args:
        reading: a format's.
        option: of data_prep.images.frame.UNITS, or None.
        where: the source.

    Raises:
        DataError: without an option, boxes that should be in pixels look like shares.
    """
    if option:
        return reading._replace(entries=[_in_unit(entry, option) for entry in reading.entries])
    found = suspicion([entry for entry in reading.entries if entry.unit == "pixels"])
    if found is None:
        return reading
    looks = "percent" if found.unit == "percent" else "fractions"
    raise DataError(
        f"The boxes in {where} look like {looks} of the image's sides, where pixels belong: {found.why}.",
        f"Say what they are: --coordinates {found.unit}, or --coordinates pixels.",
    )


def _in_unit(entry, unit):
    if entry.annotation is None or entry.unit == unit:
        return entry
    return entry._replace(annotation=functools.partial(_load, entry, unit), unit=unit)


def _load(entry, unit):
    return load(entry)._replace(unit=unit)
