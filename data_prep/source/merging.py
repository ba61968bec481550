"""Annotations of one image in several files: alike they are one, different they are refused by name."""

from typing import Dict, List, Sequence, Tuple

from data_prep.source.matching import Match
from data_prep.source.reading import load
from data_prep.wording import some

_DIGITS = 2  # of a pixel: tools write boxes with two digits and more
_FIGURES_OF_A_SHARE = 5


def one_each(matches: Sequence[Match]) -> List[Match]:
    """The matches with one for each image, where the first that means it stands."""
    groups: Dict[str, List[Match]] = {}
    for match in matches:
        if match.image:
            groups.setdefault(match.image, []).append(match)
    found, done = [], set()
    for match in matches:
        if match.image is None:
            found.append(match)
        elif match.image not in done:
            done.add(match.image)
            found.append(_one_of(groups[match.image]))
    return found


def _one_of(group: Sequence[Match]) -> Match:
    first = group[0]
    if len(group) == 1:
        return first
    names = [match.entry.where for match in group]
    where = some(names, len(names), 3)
    stated = {match.entry.split for match in group} - {""}
    if len(stated) > 1:
        problem = f"{first.image} is put into {' and '.join(sorted(stated))}: in {where}"
        return first._replace(image=None, problem=problem, refused=first.image)
    if not _equal(group):
        problem = f"{first.image} is annotated {len(group)} times and differently: in {where}"
        return first._replace(image=None, problem=problem, refused=first.image)
    note = f"annotated {len(group)} times, all alike: in {where}"
    first = first._replace(entry=first.entry._replace(split="".join(stated)))
    return first._replace(note="; ".join(filter(None, (first.note, note))))


def _equal(group):
    try:
        return len({_content(load(match.entry)) for match in group}) == 1
    except ValueError:
        return False  # the one that cannot be read may have said anything


def _content(annotation) -> Tuple[Tuple[object, ...], ...]:
    """What makes two annotations the same: the classes and boxes, in any order."""
    digits = _DIGITS if annotation.unit == "pixels" else _FIGURES_OF_A_SHARE
    return tuple(
        sorted((item.name, tuple(round(side, digits) for side in item.box or ())) for item in annotation.objects)
    )
