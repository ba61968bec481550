"""KITTI's label files: lines of `type truncated occluded alpha xmin ymin xmax ymax ...`, beside images or parallel."""

import posixpath
from argparse import ArgumentParser
from typing import List, Optional

from data_prep.images.boxes import Box
from data_prep.source import arguments, planning
from data_prep.source.annotation import Annotation, Object
from data_prep.source.reading import Entry, Problem, Reading, entry, number, of_folder, text_of
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("kitti", "kitti")
_FIELDS, _WITH_SCORE = 15, 16
_NO_OBJECT = "DontCare"


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep kitti`."""
    arguments.add_all(
        parser,
        "images and label files: image_2/ and label_2/, or beside each other",
        "the types in the data, sorted, less DontCare",
        "folders called train, val and test",
    )


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no labels; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir), options, _KIND)


def read(source_dir: str) -> Reading:
    """The Reading of a folder."""
    problems: List[Problem] = []
    found = of_folder(
        source_dir,
        ".txt",
        lambda name, content: _entries(name, content, problems),
        "labels of KITTI (*.txt with lines of a type and 14 numbers)",
    )
    return Reading(found.entries, found.digest, problems=problems, foreign=found.foreign)


def _entries(name, content, problems) -> Optional[List[Entry]]:
    lines = [(at, line.split()) for at, line in enumerate(text_of(name, content).splitlines(), 1) if line.strip()]
    if lines and not any(len(words) in (_FIELDS, _WITH_SCORE) for _, words in lines):
        return None
    objects, regions = [], 0
    for at, words in lines:
        try:
            item = _object(words)
        except ValueError as reason:
            problems.append(Problem(f"{name}, line {at}", str(reason)))
            continue
        if item.name == _NO_OBJECT:
            regions += 1
        else:
            objects.append(item)
    note = "DontCare regions were left out" if regions else ""
    return [
        entry(
            name[: -len(".txt")],
            name,
            Annotation(0, 0, objects),
            folder=posixpath.dirname(name),
            stem=True,
            group="kitti",
            note=note,
        )
    ]


def is_labels(name: str, content: bytes) -> bool:
    """Whether this is a file of labels with a line in it."""
    lines = [line.split() for line in text_of(name, content).splitlines() if line.strip()]
    return bool(lines) and all(len(words) == _FIELDS for words in lines)


def _object(words):
    if len(words) == _WITH_SCORE:
        raise ValueError("it has a score: a detection, not a label")
    if len(words) != _FIELDS:
        raise ValueError(f"it has {len(words)} fields, where 15 belong")
    try:
        values = [number(word) for word in words[1:]]
    except ValueError as error:
        raise ValueError("its 14 numbers cannot be read") from error
    return Object(Box(*values[3:7]), words[0], truncated=int(values[0] > 0))
