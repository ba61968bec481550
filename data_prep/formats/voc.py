"""Pascal VOC and its kin to TFRecords: VOC folders, labelImg's xml beside images, and CVAT's exports.

Annotations are `Annotations/**/*.xml` with images in `JPEGImages/`, or any *.xml below the folder with the images
anywhere below it; CVAT's own formats (one annotations.xml for all) are recognised by their content. Features are those
of the API's create_pascal_tf_record.py. VOC's boxes count from 1 and end on the last pixel; they are taken as they are,
as there.
"""

import collections
import functools
import io
import os
import posixpath
import unicodedata
from argparse import ArgumentParser
from typing import Dict, List, NamedTuple, Tuple

from common.errors import DataError
from data_prep.formats import cvat
from data_prep.source import annotation as annotations
from data_prep.source import arguments, planning
from data_prep.source.image_index import is_text, visible_files
from data_prep.source.reading import Entry, Problem, Reading, entry, of_files, refuse_no_folder, text_of
from data_prep.wording import name_text
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("voc", "pascal")
_SETS = os.path.join("ImageSets", "Main")
_GROUP = "voc"


class Source(NamedTuple):
    """dir: as given. annotations: the folder below which the xml are. images: the one below which the images are."""

    dir: str
    annotations: str
    images: str


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep voc`."""
    arguments.add_all(
        parser,
        "Annotations/ and JPEGImages/, or images and xml anywhere below it",
        "the names in the data, sorted",
        "ImageSets/Main/train.txt, val.txt and test.txt, or folders of these names",
    )


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no annotations, or unknown classes; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir), options, _KIND)


def read(source_dir: str) -> Reading:
    """The Reading of a folder.

    Raises:
        DataError: there is no annotation, or the image sets contradict each other.
    """
    source = _source(source_dir)
    found = of_files(
        source.annotations,
        visible_files(source.annotations, ".xml"),
        lambda name, content: _entries_of(name, os.path.join(source.annotations, name), content),
    )
    if not found.entries:
        raise DataError(
            f"There is no annotation (*.xml) in {source.dir}.",
            "Name a Pascal VOC folder, or one where labelImg's or CVAT's xml lie beside the images.",
        )
    entries, problems, lists = _with_image_sets(source, found.entries)
    files = {each.group for each in entries} - {_GROUP}
    return Reading(
        entries,
        found.digest + lists,
        problems=problems,
        foreign=found.foreign,
        exif=cvat.exif(sorted(files)),
        root=source.images,
    )


def _source(source_dir):
    refuse_no_folder(source_dir)
    annotations_dir = os.path.join(source_dir, "Annotations")
    if os.path.isdir(annotations_dir):
        images_dir = os.path.join(source_dir, "JPEGImages")
        return Source(source_dir, annotations_dir, images_dir if os.path.isdir(images_dir) else source_dir)
    inner = sorted(
        name for name in os.listdir(source_dir) if os.path.isdir(os.path.join(source_dir, name, "Annotations"))
    )
    if inner:
        raise DataError(
            f"{source_dir} has no Annotations, but {', '.join(inner)} in it has.",
            f"Give that folder: --source {os.path.join(source_dir, inner[0])}.",
        )
    return Source(source_dir, source_dir, source_dir)


def _entries_of(name, path, content):
    """The entries of one xml file: one, a CVAT file's many, or None where it is no annotation at all."""
    stem = os.path.splitext(name)[0]
    if not is_text(name):
        return [Entry(name_text(stem), name_text(name), None, problem="the name of its xml is not UTF-8")]
    try:
        root = annotations.xml_of(content)
        if root.tag == cvat.ROOT:
            return cvat.entries(root, path, name) or None
        if root.tag != "annotation":
            return None
        annotation = annotations.of_xml(root)
    except ValueError as reason:
        return [Entry(stem, name, None, stem=True, group=_GROUP, problem=str(reason))]
    again = functools.partial(annotations.read_xml, path)
    folder = posixpath.dirname(name)
    others = _other_names(root, annotation.filename, folder)
    return [entry(stem, name, annotation, annotation=again, folder=folder, others=others, stem=True, group=_GROUP)]


def _other_names(root, filename, folder):
    """What the xml says of its image beside its own name: tools and people rename one and not the other."""
    stated = (root.findtext("folder") or "").strip()
    path = (root.findtext("path") or "").strip()
    found = []
    if filename:
        found.append(posixpath.join(folder, posixpath.basename(filename.replace("\\", "/"))))
        found.append(f"{stated}/{filename}" if stated else filename)
    return tuple(found + ([path] if posixpath.basename(path.replace("\\", "/")) else []))


def _with_image_sets(source, entries):
    """(entries with the splits of ImageSets/Main in its order, Problems, a checksum of the lists)."""
    lists = _lists(source.dir)
    if not lists:
        return entries, [], ""
    by_stem: Dict[str, List[Entry]] = collections.defaultdict(list)
    for each in entries:
        by_stem[_key(each.name if each.stem else posixpath.splitext(each.name)[0])].append(each)
    stated: Dict[str, str] = {}
    times: Dict[str, int] = collections.Counter()
    problems: List[Problem] = []
    for split, path in lists:
        stems, missing = _listed(path, by_stem)
        problems += _of_missing(os.path.relpath(path, source.dir), stems, missing)
        times.update(stems)
        stated.update(dict.fromkeys(stems, split))
    twice = sorted(by_stem[stem][0].name for stem, count in times.items() if count > 1)
    if twice:
        raise DataError(
            f"ImageSets/Main lists {', '.join(twice[:5])} more than once.",
            "List each image once: one that trains cannot validate.",
        )
    ordered = [each._replace(split=split) for stem, split in stated.items() for each in by_stem[stem]]
    rest = [each for stem, several in by_stem.items() if stem not in stated for each in several]
    return ordered + rest, problems, "".join(f" {stem}={split}" for stem, split in stated.items())


def _lists(source_dir):
    """[(split, path)] of ImageSets/Main: train and val, or trainval for train where those are not there; and test."""
    paths = {name: os.path.join(source_dir, _SETS, name + ".txt") for name in ("train", "val", "trainval", "test")}
    there = {name: path for name, path in paths.items() if os.path.exists(path)}
    if "trainval" in there and not ("train" in there and "val" in there):
        there["train"] = there["trainval"]
        there.pop("val", None)
    found = [(name, there[name]) for name in ("train", "val", "test") if name in there]
    return found if len(found) > 1 else []


def _of_missing(name, stems, missing):
    """Lines without an annotation, one each; of a list without any, as VOC 2012's test, one for all."""
    if missing and not stems:
        return [Problem(name, "lists images of which none has an annotation")]
    return [Problem(f"{name}, line {number}", f"lists {line}, without an annotation") for number, line in missing]


def _listed(path, by_stem):
    """(keys of by_stem that a list names, [(line's number, line)] of what is not there)."""
    with open(path, "rb") as file:
        text = io.StringIO(text_of(path, file.read()), newline=None)  # whose lines end as those of a file do
    lines = [(number, line.strip()) for number, line in enumerate(text, 1) if line.strip()]
    found: List[str] = []
    missing: List[Tuple[int, str]] = []
    for number, line in lines:
        # Lists of one class end with -1, 0 or 1; names may hold blanks themselves, or their image's extension.
        stems = [line] + ([line.rsplit(None, 1)[0]] if line.split()[-1] in ("-1", "0", "1") else [])
        stems += [posixpath.splitext(stem)[0] for stem in stems]
        known = next((_key(stem) for stem in stems if _key(stem) in by_stem), None)
        if known is None:
            missing.append((number, line))
        else:
            found.append(known)
    return found, missing


def _key(stem):
    return unicodedata.normalize("NFC", stem)
