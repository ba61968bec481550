"""Pascal VOC and its kin to TFRecords: VOC folders, labelImg's xml beside images, and CVAT's exports.

Annotations are `Annotations/**/*.xml` with images in `JPEGImages/`, or any *.xml below the folder with the
images anywhere below it; CVAT's own format ("CVAT for images", one annotations.xml for all) is recognised by its
content. Features are those of the API's create_pascal_tf_record.py. VOC's boxes count from 1 and end on the last
pixel; they are taken as they are, as there.
"""

import collections
import functools
import hashlib
import os
import unicodedata
from argparse import ArgumentParser
from typing import Dict, List, NamedTuple, Optional, Tuple

from common.errors import DataError
from data_prep.formats import annotation as annotations
from data_prep.formats import arguments
from data_prep.formats.annotation import Annotation, Object
from data_prep.formats.class_names import ids_of, refuse_unknown
from data_prep.formats.class_names import read as read_label_map
from data_prep.formats.image_index import ImageIndex, is_text, visible_files
from data_prep.formats.splits import Choice
from data_prep.images import example_features
from data_prep.images.boxes import Box
from data_prep.wording import name_text
from data_prep.writer import dataset

_CONVERTER_VERSION = 1
_PREFIX = "pascal"
_CVAT_ROOT = "annotations"


class Options(NamedTuple):
    """label_map: a file, or None for the names in the data, sorted. shards: None for dataset.shards_for."""

    label_map: Optional[str] = None
    shards: Optional[int] = None
    split: Choice = Choice()


class Entry(NamedTuple):
    """An annotation and the image it belongs to.

    stem: relative path without extension, which image sets list. xml: path. position: of the image in a CVAT
    file, else None. image: relative to the images' folder, or None, and then problem says why. names: of its
    objects' classes.
    """

    stem: str
    xml: str
    position: Optional[int]
    image: Optional[str]
    problem: Optional[str]
    names: Tuple[str, ...]


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep voc`."""
    arguments.add_source(parser, "Annotations/ and JPEGImages/, or images and xml anywhere below it")
    arguments.add_label_map(parser, "the names in the data, sorted")
    arguments.add_split(parser, "upstream is ImageSets/Main/train.txt and val.txt (default where they are)")


class Converter:
    """Turn an entry's id into an Outcome."""

    def __init__(self, images_dir: str, entries: Dict[str, Entry], recipe: example_features.Recipe):
        self._images_dir = images_dir
        self._entries = entries
        self._recipe = recipe

    def __call__(self, entry_id: str) -> dataset.Outcome:
        entry = self._entries[entry_id]
        try:
            if entry.image is None:
                raise ValueError(entry.problem)
            annotation = _annotation(entry)
            data = example_features.read_file(os.path.join(self._images_dir, entry.image))
            return example_features.convert(
                example_features.Source(entry.image, entry.image, data), annotation, self._recipe
            )
        except ValueError as reason:
            return dataset.Outcome(None, skipped=str(reason))


def plan(source_dir: str, name: str, options: Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no annotations, or unknown classes.
    """
    annotations_dir, images_dir = _folders(source_dir)
    index = ImageIndex(images_dir)
    digest = hashlib.sha256()
    entries, foreign = _read_all(source_dir, annotations_dir, index, digest)
    used = {entry.image for entry in entries.values() if entry.image}
    for image in sorted(used):
        size = os.path.getsize(os.path.join(images_dir, image))
        digest.update((f"{image} {size}\n").encode("utf-8"))
    found = {name for entry in entries.values() for name in entry.names}
    classes = _classes(found, options.label_map, source_dir)
    splits, upstream = _splits(source_dir, entries, options.split)
    shards = options.shards or dataset.shards_for(splits)
    chosen = dict({"label_map": options.label_map, "shards": shards}, **options.split.options(upstream))
    in_splits = {entry_id for split in splits for entry_id in split.ids}
    return dataset.Plan(
        name=name,
        classes=classes,
        prefix=_PREFIX,
        splits=splits,
        convert=Converter(images_dir, entries, example_features.Recipe(ids_of(classes))),
        shards=shards,
        fingerprint=dict(
            chosen,
            format="voc",
            converter=_CONVERTER_VERSION,
            classes=list(classes),
            splits=[[split.name, len(split.ids)] for split in splits],
            source_sha256=digest.hexdigest(),
        ),
        extra={"boxes": "annotated", "masks": None, "shards": shards},
        command=("voc", dict({"source": source_dir}, **chosen)),
        config=example_features.config_fields("none"),
        unused=[
            dataset.Unused(sorted(set(entries) - in_splits), "in no image set"),
            dataset.Unused(index.unused(used), "no annotation"),
            dataset.Unused(foreign, "the xml is no annotation"),
        ],
    )


def _folders(source_dir):
    """(where the xml are, where the images are)."""
    if not os.path.isdir(source_dir):
        raise DataError(f"There is no folder {source_dir}.", "Name the folder that holds images and annotations.")
    annotations_dir = os.path.join(source_dir, "Annotations")
    if os.path.isdir(annotations_dir):
        images_dir = os.path.join(source_dir, "JPEGImages")
        return annotations_dir, images_dir if os.path.isdir(images_dir) else source_dir
    inner = sorted(
        name for name in os.listdir(source_dir) if os.path.isdir(os.path.join(source_dir, name, "Annotations"))
    )
    if inner:
        raise DataError(
            f"{source_dir} has no Annotations, but {', '.join(inner)} in it has.",
            f"Give that folder: --source {os.path.join(source_dir, inner[0])}.",
        )
    return source_dir, source_dir


def _read_all(source_dir, annotations_dir, index, digest):
    """({id: Entry}, xml files that are something else). The id is the image's name where there is an image."""
    entries: Dict[str, Entry] = {}
    foreign: List[str] = []
    for name in visible_files(annotations_dir, ".xml"):
        path = os.path.join(annotations_dir, name)
        with open(path, "rb") as file:
            digest.update((f"{name_text(name)} {hashlib.sha256(file.read()).hexdigest()}\n").encode("utf-8"))
        for entry in _entries_of(name, path, index):
            if entry is None:
                foreign.append(name_text(name))
                continue
            taken = entries.get(entry.image)
            if taken:
                problem = f"{entry.image} is annotated twice, here and in {name_text(taken.xml)}"
                entry = entry._replace(image=None, problem=problem, names=())
            entry_id = entry.image or name_text(name) if entry.position is None else entry.stem
            entries[_unused_key(entry_id, entries)] = entry
    if not entries:
        raise DataError(
            f"There is no annotation (*.xml) in {source_dir}.",
            "Name a Pascal VOC folder, or one where labelImg's or CVAT's xml lie beside the images.",
        )
    return entries, foreign


def _unused_key(key, entries):
    number, candidate = 1, key
    while candidate in entries:
        number += 1
        candidate = f"{key} ({number})"
    return candidate


def _entries_of(name, path, index):
    """The entries of one xml file: one, a CVAT file's many, or [None] where it is no annotation at all."""
    stem = os.path.splitext(name)[0]
    if not is_text(name):
        return [Entry(name_text(stem), path, None, None, "the name of its xml is not UTF-8", ())]
    try:
        root = annotations.parse_xml(path)
        if root.tag == _CVAT_ROOT:
            return [
                _found(os.path.splitext(image.get("name") or "")[0], path, position, index, _cvat(image))
                for position, image in enumerate(root.findall("image"))
            ]
        if root.tag != "annotation":
            return [None]
        annotation = annotations.read_xml(path)
    except ValueError as reason:
        return [Entry(stem, path, None, None, str(reason), ())]
    return [_found(stem, path, None, index, annotation)]


def _found(stem, path, position, index, annotation):
    """The entry with its image: of the xml's own stem, else of the stem that <filename> in the xml has."""
    names = tuple(item.name for item in annotation.objects)
    try:
        return Entry(stem, path, position, index.find(stem, annotation.filename), None, names)
    except ValueError as reason:
        problem = str(reason)
    filename_stem = os.path.splitext(annotation.filename)[0]
    if filename_stem and filename_stem != os.path.basename(stem):
        try:
            beside = os.path.join(os.path.dirname(stem), os.path.basename(filename_stem))
            return Entry(stem, path, position, index.find(beside, annotation.filename), None, names)
        except ValueError:
            problem = f"{problem}, nor of the name in <filename>"
    return Entry(stem, path, position, None, problem, names)


@functools.lru_cache(maxsize=1)
def _cvat_images(path):
    return [_cvat(image) for image in annotations.parse_xml(path).findall("image")]


def _annotation(entry):
    if entry.position is None:
        return annotations.read_xml(entry.xml)
    return _cvat_images(entry.xml)[entry.position]


def _cvat(image):
    """The Annotation in an <image> of CVAT's format; shapes other than boxes have none that can be read."""
    objects = [
        Object(
            _cvat_box(shape) if shape.tag == "box" else None,
            (shape.get("label") or "").strip(),
            truncated=annotations.whole(shape.get("occluded")),
        )
        for shape in image
        if shape.tag != "tag"
    ]
    return Annotation(
        annotations.whole(image.get("width")), annotations.whole(image.get("height")), objects, image.get("name") or ""
    )


def _cvat_box(shape):
    try:
        return Box(*(float(shape.get(side)) for side in ("xtl", "ytl", "xbr", "ybr")))
    except (TypeError, ValueError):
        return None


def _classes(found, label_map_path, source_dir):
    """The names of the map; without one those in the data, sorted by their characters' numbers."""
    if label_map_path is None:
        if not found - {""}:
            raise DataError(
                f"No annotation in {source_dir} has an object with a name.",
                "Label some objects, or name the classes with --label-map.",
            )
        classes = tuple(sorted(found - {""}))
    else:
        classes = read_label_map(label_map_path)
    refuse_unknown(found, classes, source_dir)
    return classes


def _splits(source_dir, entries, choice):
    """(train and val, whether they are the source's own)."""
    listed = None if choice.upstream is False else _image_sets(source_dir, entries)
    if listed is None and choice.upstream:
        raise DataError(
            f"{source_dir} has no ImageSets/Main/train.txt and val.txt that name its images.",
            "Leave out --split upstream: --val-fraction and --seed split it.",
        )
    return listed or choice.by_seed(sorted(entries)), listed is not None


def _image_sets(source_dir, entries):
    """[train, val] as ImageSets/Main lists them, or None where it does not have both.

    Raises DataError where they list an image twice, or one that has no annotation.
    """
    paths = [os.path.join(source_dir, "ImageSets", "Main", name + ".txt") for name in ("train", "val")]
    if not all(map(os.path.exists, paths)):
        return None
    by_stem = {_key(entry.stem): entry_id for entry_id, entry in entries.items()}
    splits = [dataset.Split(name, _listed(path, by_stem)) for name, path in zip(("train", "val"), paths)]
    times = collections.Counter(entry_id for split in splits for entry_id in split.ids)
    twice = sorted(entry_id for entry_id, count in times.items() if count > 1)
    if twice:
        raise DataError(
            f"ImageSets/Main lists {', '.join(twice[:5])} more than once.",
            "List each image once: one that trains cannot validate.",
        )
    return splits


def _listed(path, by_stem):
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = [line.strip() for line in file if line.strip()]
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not a text file in UTF-8.", "Save it as UTF-8.") from error
    ids: List[str] = []
    missing: List[str] = []
    for line in lines:
        # Lists of one class end with -1, 0 or 1; names may hold blanks themselves.
        stems = [line] + ([line.rsplit(None, 1)[0]] if line.split()[-1] in ("-1", "0", "1") else [])
        found = next((by_stem[_key(stem)] for stem in stems if _key(stem) in by_stem), None)
        (missing if found is None else ids).append(found or line)
    if missing:
        more = f" as {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(
            f"{path} lists {missing[0]}, without an annotation{more}.",
            "Correct the list, or leave it aside with --split random.",
        )
    return ids


def _key(stem):
    return unicodedata.normalize("NFC", stem)
