"""What a format reads from the files of a source, before anybody looks for the images."""

import hashlib
import json
import math
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from common.errors import DataError
from common.progress import Progress
from data_prep.source.annotation import Annotation
from data_prep.source.image_index import visible_files
from data_prep.wording import name_text


class Entry(NamedTuple):
    """An image and its annotation, as a file states them.

    name: of the image, as it stands there: a path with either slash, absolute or not, or a URL; or a path relative to
    the source without extension (`stem`), where the annotation's file is called as the image is.
    where: for people: the annotation's file relative to the source, and the line, id or place in it.
    annotation: itself, or a function without arguments that reads it anew (in the process that converts) and raises
    ValueError where it cannot.
    classes: the names of its objects' classes. largest: the largest coordinate of its boxes, 0 without boxes.
    size: (width, height) that the annotation claims, zeros where it claims nothing. unit: of its boxes.
    folder: of the annotation's file, relative to the source ("" is the source itself): names are meant from there, too.
    others: further names that the annotation gives its image, which count where `name` leads nowhere.
    id: the source's own id of the image; "" for the image's path. Ids of one reading are unique.
    split: what a file states, "train", "val" or "test"; "" where it states nothing.
    group: entries of one tool and file: how it treats Exif orientation is decided together.
    problem: why it cannot be used; the image is then listed as skipped. optional: nothing is said of it where its image
    is not there: the annotation only says that nothing is in it. note: what is unusual about it.
    """

    name: str
    where: str
    annotation: Union[Annotation, Callable[[], Annotation], None]
    classes: Tuple[str, ...] = ()
    largest: float = 0.0
    size: Tuple[int, int] = (0, 0)
    unit: str = "pixels"
    folder: str = ""
    others: Tuple[str, ...] = ()
    stem: bool = False
    id: str = ""
    split: str = ""
    group: str = ""
    problem: str = ""
    optional: bool = False
    note: str = ""


class Problem(NamedTuple):
    """What in a file is not used, and is no image: a line, an annotation of an image that is not listed.

    where: the file relative to the source, and the line or id. why: the end of a sentence.
    """

    where: str
    why: str


class Reading(NamedTuple):
    """All that a format reads.

    classes: all names in the order of their ids, where the source states it; () to sort those of the entries.
    problems: what is not used. foreign: files that looked like annotations and are none.
    digest: a checksum of everything that was read. extra: further keys of dataset.json. root: the folder with the
    images, which names and folders are relative to, where that is not the source.
    exif: by group, how its tool draws boxes on images with an Exif orientation: "upright", "stored"; where it is left
    out that is not known.
    """

    entries: List[Entry]
    digest: str
    classes: Tuple[str, ...] = ()
    problems: Sequence[Problem] = ()
    foreign: Sequence[str] = ()
    extra: Dict[str, Any] = {}
    exif: Dict[str, str] = {}
    root: str = ""


def entry(name: str, where: str, content: Annotation, **rest: Any) -> Entry:
    """The Entry of an annotation that was read.

    Args:
        name: of the image, as the file states it.
        where: the file, and the place in it.
        content: what was read.
        rest: further fields of Entry; a function as `annotation` reads the content anew, so that a large source need
            not be kept in memory.
    """
    fields: Dict[str, Any] = dict(
        annotation=content,
        classes=tuple(item.name for item in content.objects),
        largest=max((max(item.box) for item in content.objects if item.box), default=0.0),
        size=(content.width, content.height),
        unit=content.unit,
    )
    fields.update(rest)
    return Entry(name, where, **fields)


def load(entry: Entry) -> Annotation:
    """The Annotation of an entry.

    Raises:
        ValueError: it cannot be read; the text says why.
    """
    annotation = entry.annotation
    if isinstance(annotation, Annotation):
        return annotation
    if annotation is None:
        raise ValueError(entry.problem or "there is no annotation")
    return annotation()


class Files(NamedTuple):
    """What was read from files of one kind: Entries, or what they are made of.

    foreign: names of the files that are something else. digest: of all.
    """

    entries: List[Any]
    foreign: List[str]
    digest: str


def refuse_no_folder(source_dir: str) -> None:
    """Raises DataError where the source is not there."""
    if not os.path.isdir(source_dir):
        raise DataError(f"There is no folder {source_dir}.", "Name the folder that holds images and annotations.")


def of_folder(source_dir: str, extension: str, read: Callable[[str, bytes], Optional[List[Any]]], what: str) -> Files:
    """of_files of all files below a source with an extension.

    Args:
        source_dir: the folder.
        extension: in lower case, with its dot.
        read: of of_files.
        what: should be there, as the end of a sentence.

    Raises:
        DataError: there is no such folder, or nothing of it in it.
    """
    refuse_no_folder(source_dir)
    found = of_files(source_dir, visible_files(source_dir, extension), read)
    need(found, source_dir, what)
    return found


def of_files(root: str, names: Sequence[str], read: Callable[[str, bytes], Optional[List[Any]]]) -> Files:
    """The entries of files, each of which is read once.

    Args:
        root: the folder that names are relative to.
        names: of the files.
        read: function(name, content) -> entries, or None where the file is something else.
    """
    digest = hashlib.sha256()
    entries: List[Any] = []
    foreign: List[str] = []
    with Progress("Reading annotations", len(names), "files") as progress:
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                content = file.read()
            digest.update(f"{name_text(name)} {hashlib.sha256(content).hexdigest()}\n".encode("utf-8"))
            found = read(name, content)
            if found is None:
                foreign.append(name_text(name))
            entries += found or []
            progress.update(1)
    return Files(entries, foreign, digest.hexdigest())


def text_of(name: str, content: bytes) -> str:
    """The text of a file.

    Raises:
        DataError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not a text file in UTF-8.", "Save it as UTF-8.") from error


def json_of(content: bytes) -> Any:
    """What a JSON file holds; None of what is not valid JSON.

    Half of a character, which JSON can write and no record can hold, becomes the replacement character.
    """
    try:
        text = content.decode("utf-8-sig")
        found = json.loads(text)
        return _whole_characters(found) if _HALF.search(text) else found
    except (ValueError, RecursionError):
        return None


_HALF = re.compile(r"\\u[dD][89abAB-Fc-f]")


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def number(value: Any) -> float:
    """A finite number from what JSON or a text file holds.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r} is no number")
    found = float(value)
    if not math.isfinite(found) or abs(found) > _LARGEST:
        raise ValueError(f"{value!r} is no number")
    return found


_LARGEST = 1e15


def need(files: Files, where: str, what: str) -> None:
    """Raises DataError where nothing was read.

    Args:
        files: what was.
        where: the source.
        what: should be there, as the end of a sentence.
    """
    if not files.entries:
        instead = f"; it holds {', '.join(files.foreign[:3])}" if files.foreign else ""
        raise DataError(f"{where} holds no {what}{instead}.", "Name the folder that holds images and annotations.")
