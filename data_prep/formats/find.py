"""Which format a folder is in, by the content of its files; where they are of several, or of none, what lies there."""

import collections
import os
import posixpath
from typing import Counter, Dict, List, NamedTuple, Optional, Sequence

from common.errors import DataError
from common.text import counted
from data_prep.formats import coco, csv_boxes, kitti, label_studio, labelme, via, vott, yolo
from data_prep.source.image_index import is_called_image, visible_files
from data_prep.source.reading import json_of, refuse_no_folder
from data_prep.wording import some

# Of many files of one kind so many are looked at, spread evenly.
_LOOKED_AT = 50
_XML_HEAD_BYTES = 2000
_NEAREST = {
    ".tfrecord": "records: `python -m data_prep check` looks at them, and a pipeline config may name them",
    ".record": "records: `python -m data_prep check` looks at them, and a pipeline config may name them",
    ".mat": "MATLAB's files: write Pascal VOC xml or CSV from them",
    ".parquet": "Parquet: write CSV from it",
    ".pkl": "a pickle: write CSV from it",
    ".npy": "arrays: write CSV from them",
    ".npz": "arrays: write CSV from them",
    ".ndjson": "NDJSON: export COCO from the tool",
    ".jsonl": "JSON lines: export COCO from the tool",
    ".xlsx": "a table: save it as CSV",
    ".zip": "an archive: unpack it first",
    ".tar": "an archive: unpack it first",
    ".gz": "an archive: unpack it first",
    ".json": "JSON of none of these: export COCO from the tool",
    ".xml": "xml of none of these: export Pascal VOC from the tool",
    ".txt": "text of none of these: export YOLO, KITTI or CSV from the tool",
    ".csv": "a table without columns of an image, a class and a box's four sides",
}


class Found(NamedTuple):
    """format: its name in FORMATS. line: what says so, for people."""

    format: str
    line: str


def find(source_dir: str, known: Sequence[str]) -> Found:
    """The format of a folder.

    Args:
        source_dir: the folder.
        known: names of the formats there are, for the message.

    Raises:
        DataError: there is no such folder, or it holds annotations of no format, or of several.
    """
    refuse_no_folder(source_dir)
    names = visible_files(source_dir)
    counts: Counter[str] = collections.Counter()
    for extension, files in _by_extension(names).items():
        looked_at = files[:: max(1, len(files) // _LOOKED_AT)]
        seen = collections.Counter(_format_of(source_dir, name, extension) for name in looked_at)
        counts.update({kind: count * len(files) // len(looked_at) for kind, count in seen.items() if kind})
    if len(counts) == 1:
        ((kind, count),) = counts.items()
        return Found(kind, f"Format: {kind}, found in {counted(count, 'file')} of {source_dir}.")
    if counts:
        several = ", ".join(f"{kind} ({counted(count, 'file')})" for kind, count in sorted(counts.items()))
        raise DataError(
            f"{source_dir} holds annotations of several formats: {several}.",
            "Say which: --format NAME (FORMAT=NAME with make), or move the others away.",
        )
    raise DataError(
        f"{source_dir} holds no annotations that are read: {_instead(names)}.",
        f"Formats that are read: {', '.join(known)}. Export one of them from your tool.",
    )


def _by_extension(names) -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = collections.OrderedDict()
    for name in names:
        extension = posixpath.splitext(name)[1].lower()
        if extension in (".xml", ".json", ".txt", ".csv"):
            found.setdefault(extension, []).append(name)
    return found


def _format_of(source_dir, name, extension) -> Optional[str]:
    """The format of a file; None of what is something else."""
    with open(os.path.join(source_dir, name), "rb") as file:
        content = file.read(_XML_HEAD_BYTES) if extension == ".xml" else file.read()
    if extension == ".xml":
        return "voc" if b"<annotation" in content else None
    if extension == ".json":
        return _of_json(json_of(content))
    try:
        return _of_csv(name, content) if extension == ".csv" else _of_text(name, content)
    except DataError:  # no text: no annotation
        return None


def _of_json(content) -> Optional[str]:
    if coco.is_instances(content):
        return "coco"
    if labelme.is_labelme(content):
        return "labelme"
    if label_studio.is_export(content):
        return "label-studio"
    if vott.assets_of(content):
        return "vott"
    return "via" if via.images_of(content) else None


def _of_csv(name, content):
    return "csv" if csv_boxes.is_table(name, content) else None


def _of_text(name, content):
    if yolo.is_labels(name, content):
        return "yolo"
    return "kitti" if kitti.is_labels(name, content) else None


def _instead(names) -> str:
    """What lies there, with the nearest way where there is one."""
    kinds = collections.Counter(posixpath.splitext(name)[1].lower() for name in names if not is_called_image(name))
    images = sum(map(is_called_image, names))
    told = [f"{counted(count, 'file')} {kind} ({_NEAREST[kind]})" for kind, count in kinds.items() if kind in _NEAREST]
    rest = f"{counted(images, 'image')}" if images else "no image"
    return some([rest] + told, 1 + len(told), 4)
