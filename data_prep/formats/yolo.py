"""YOLO's text files: a line a box, `class cx cy width height` in shares of the image's sides, or a polygon's points.

Classes are named by data.yaml, by classes.txt, obj.names or another *.names, or by a label map. Splits are those of
data.yaml, or of folders called train, valid and test. A polygon gives the box around it.
"""

import os
import posixpath
from argparse import ArgumentParser
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from common.errors import DataError
from data_prep.images import frame
from data_prep.images.boxes import Box, around
from data_prep.source import arguments, class_names, image_names, planning
from data_prep.source.annotation import Annotation, Object
from data_prep.source.image_index import visible_files
from data_prep.source.reading import Entry, Problem, Reading, entry, need, number, of_files, refuse_no_folder, text_of
from data_prep.source.splits import NAMES, of_folders, of_word
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("yolo", "yolo")
_NAMES_FILES = ("classes.txt", "obj.names", "labels.txt", "_darknet.labels")
_YAML = (".yaml", ".yml")
_NO_LABELS = ("readme", "license", "requirements", "notes")
_BOX, _WITH_CONFIDENCE = 5, 6


class Names(NamedTuple):
    """classes: by their number. file: that says so. stated: {split: paths} of data.yaml."""

    classes: Dict[int, str]
    file: str
    stated: Dict[str, List[str]]


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep yolo`."""
    arguments.add_all(
        parser,
        "images and *.txt, beside each other or in images/ and labels/; data.yaml or classes.txt",
        "the names in data.yaml or classes.txt",
        "data.yaml's, or folders called train, valid and test",
    )


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no labels or no names of classes; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir, options.label_map), options, _KIND)


def read(source_dir: str, label_map: Optional[str] = None) -> Reading:
    """The Reading of a folder; label_map names the classes where no file does."""
    refuse_no_folder(source_dir)
    files = visible_files(source_dir)
    names = _names(source_dir, files, label_map)
    problems: List[Problem] = []
    lists = {path for paths in names.stated.values() for path in paths}
    wanted = [name for name in files if name.lower().endswith(".txt") and _may_be_labels(name) and name not in lists]
    found = of_files(source_dir, wanted, lambda name, content: _entries(name, content, names.classes, problems))
    need(found, source_dir, "labels of YOLO (*.txt with lines of a class and four numbers)")
    splits = _Splits(source_dir, names.stated)
    return Reading(
        [each._replace(split=splits.of(each.name)) for each in found.entries],
        f"{found.digest} {sorted(names.classes.items())} {sorted(names.stated.items())}",
        classes=tuple(names.classes[key] for key in sorted(names.classes)),
        problems=problems,
        foreign=found.foreign,
        # Its trainers read images upright.
        exif={"yolo": frame.UPRIGHT},
    )


def _may_be_labels(name):
    base = posixpath.basename(name).lower()
    return base not in _NAMES_FILES and not base.startswith(_NO_LABELS)


def _entries(name, content, classes, problems) -> Optional[List[Entry]]:
    lines = [(at, line.split()) for at, line in enumerate(text_of(name, content).splitlines(), 1) if line.strip()]
    if lines and not any(_looks_like_a_label(words) for _, words in lines):
        return None
    objects = []
    for at, words in lines:
        try:
            objects.append(_object(words, classes))
        except ValueError as reason:
            problems.append(Problem(f"{name}, line {at}", str(reason)))
    content = Annotation(0, 0, objects, unit="fraction")
    return [entry(name[: -len(".txt")], name, content, folder=posixpath.dirname(name), stem=True, group="yolo")]


def is_labels(name: str, content: bytes) -> bool:
    """Whether this is a file of labels with a line in it."""
    return _may_be_labels(name) and any(
        _looks_like_a_label(line.split()) for line in text_of(name, content).splitlines()
    )


def _looks_like_a_label(words):
    try:
        return len(words) >= _BOX and len([float(word) for word in words]) == len(words)
    except ValueError:
        return False


def _object(words, classes):
    try:
        values = [number(word) for word in words]
    except ValueError as error:
        raise ValueError("it is no label: a class and numbers belong there") from error
    if len(values) == _WITH_CONFIDENCE:
        raise ValueError("it has six numbers: a prediction with its confidence, or not a label")
    if len(values) < _BOX or len(values) % 2 == 0:
        raise ValueError(f"it has {len(values)} numbers, where five belong, or a polygon's")
    if values[0] not in classes:
        raise ValueError(f"it is of a class {words[0]} that has no name")
    return Object(_box(values[1:]), classes[int(values[0])])


def _box(values: Sequence[float]) -> Box:
    if len(values) > _BOX - 1:
        return around(zip(values[::2], values[1::2]))
    x, y, width, height = values
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _names(source_dir, files, label_map) -> Names:
    """Who names the classes: data.yaml, else a list, else the label map. Raises DataError where two say differently."""
    stated: Dict[str, List[str]] = {}
    found: List[Tuple[str, Dict[int, str]]] = []
    for name in sorted((each for each in files if each.lower().endswith(_YAML)), key=_yaml_first):
        content = _yaml(os.path.join(source_dir, name))
        if isinstance(content, dict) and "names" in content:
            found.append((name, _numbered(name, content["names"])))
            stated = stated or _stated(content, posixpath.dirname(name))
    found += [(name, _listed(source_dir, name)) for name in files if _names_classes(name)]
    different = [(name, classes) for name, classes in found if classes != found[0][1]]
    if different:
        raise DataError(
            f"{found[0][0]} and {different[0][0]} in {source_dir} name the classes differently.",
            "Remove the one that is not true.",
        )
    if found:
        return Names(found[0][1], found[0][0], stated)
    if label_map:
        return Names(dict(enumerate(class_names.read(label_map))), label_map, stated)
    raise DataError(
        f"Nothing in {source_dir} names the classes of YOLO's numbers.",
        "Put data.yaml (names: [...]) or classes.txt (a name a line) there, or give --label-map.",
    )


def _yaml_first(name):
    """What is called .yaml comes before what is called .yml: the first states the splits."""
    return not name.lower().endswith(_YAML[0]), name


def _names_classes(name):
    base = posixpath.basename(name).lower()
    return base in _NAMES_FILES or base.endswith(".names")


def _yaml(path):
    import yaml

    with open(path, "rb") as file:
        content = file.read()
    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _numbered(name: str, names: Any) -> Dict[int, str]:
    if isinstance(names, list):
        names = dict(enumerate(names))
    whole = isinstance(names, dict) and all(isinstance(key, int) and key >= 0 for key in names)
    if not whole or not names or len(set(map(str, names.values()))) < len(names):
        raise DataError(f"{name}: names is no list of different class names.", "Correct it: names: [cat, dog].")
    return {key: str(value).strip() for key, value in names.items()}


def _listed(source_dir, name):
    with open(os.path.join(source_dir, name), "rb") as file:
        lines = text_of(name, file.read()).splitlines()
    return _numbered(name, [line.strip() for line in lines if line.strip()])


def _stated(content, folder) -> Dict[str, List[str]]:
    """{split: paths relative to the source} of data.yaml's train, val and test."""
    base = posixpath.join(folder, str(content.get("path") or ""))
    found: Dict[str, List[str]] = {}
    for key, value in content.items():
        split = of_word(str(key))
        if split in NAMES and value:
            paths = value if isinstance(value, list) else [value]
            found[split] = [posixpath.normpath(posixpath.join(base, str(path))) for path in paths]
    return found


class _Splits:
    """Which split data.yaml puts an image into: by the folder it names, or by the list of images in a text file."""

    def __init__(self, source_dir: str, stated: Dict[str, List[str]]):
        self._folders: List[Tuple[Tuple[str, ...], str]] = []
        self._images: Dict[str, List[Tuple[Tuple[str, ...], str]]] = {}
        for split, paths in stated.items():
            for path in paths:
                if path.endswith(".txt"):
                    self._list(os.path.join(source_dir, path), split)
                else:
                    self._folders.append((_bare(path + "/x")[:-1], split))

    def _list(self, path, split):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                for line in text_of(path, file.read()).splitlines():
                    if line.strip():
                        bare = _bare(os.path.splitext(line.strip())[0])
                        self._images.setdefault(bare[-1], []).append((bare, split))

    def of(self, stem: str) -> str:
        bare = _bare(stem)
        listed = {split for image, split in self._images.get(bare[-1], ()) if image_names.is_tail(bare, image)}
        if len(listed) == 1:
            return listed.pop()
        fitting = {split for folder, split in self._folders if folder and image_names.is_tail(folder, bare[:-1])}
        return of_folders(stem) or (fitting.pop() if len(fitting) == 1 else "")


def _bare(path):
    return image_names.without_kinds(image_names.read(path).parts)
