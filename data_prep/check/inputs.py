"""Which TFRecord files a path means, which split each belongs to, and what the dataset promises about them."""

import fnmatch
import glob
import json
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from common.errors import DataError, UsageError
from common.text import nearest
from data_prep.tfrecord import label_map
from data_prep.writer import shards as shard_files
from data_prep.writer.dataset import DATASET_FILE

_SHARD = re.compile(r"(.*?)-(\d{5,})-of-(\d{5,})$")
_RECORD_NAMES = (
    "*.record",
    "*.records",
    "*.record-*",
    "*.tfrecord",
    "*.tfrecords",
    "*.tfrecord-*",
    "*.tfrecords-*",
    "*.tfrec",
    "*-?????-of-?????",
)
_SPLIT_WORDS = (
    ("train", "train"),
    ("val", "val"),
    ("eval", "val"),
    ("validation", "val"),
    ("test", "test"),
    ("dev", "val"),
)


class Shard(NamedTuple):
    """A file, the split it belongs to, and what dataset.json says of it ({} where there is none)."""

    path: str
    split: str
    described: Dict[str, Any]


class Sources(NamedTuple):
    """shards: list of Shard. folder, description: a prepared dataset's, else None. missing: [(set, file name)]."""

    shards: List[Shard]
    folder: Optional[str]
    description: Optional[Dict[str, Any]]
    missing: List[Tuple[str, str]]


def find(paths: Sequence[str]) -> Sources:
    """The Sources that paths mean.

    Args:
        paths: folders, files, glob patterns.

    Raises:
        DataError: there is nothing where one of them points.
    """
    if len(paths) == 1 and os.path.isdir(paths[0]):
        return _folder(paths[0])
    names = sorted({name for path in paths for name in _expand(path)})
    return Sources([Shard(name, split_of(name), {}) for name in names], None, None, _missing(names))


def _expand(path):
    if os.path.isdir(path):
        return [shard.path for shard in _folder(path).shards]
    if os.path.exists(path):
        return [path]
    found = [name for name in glob.glob(path) if os.path.isfile(name)]
    if found:
        return found
    if glob.has_magic(path):
        raise DataError(f"No file matches {path}.", f"Correct the pattern; {_there(os.path.dirname(path))}")
    folder, name = os.path.split(path)
    near = nearest(name, _listed(folder or "."))
    do = f"Did you mean {os.path.join(folder, near)}?" if near else f"Correct the path; {_there(folder)}"
    raise DataError(f"There is no file or folder {path}.", do)


def _listed(folder):
    try:
        return [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    except OSError:
        return []


def _there(folder):
    folder = folder or "."
    names = _listed(folder)
    if not names:
        return f"{folder} is no folder with files."
    return f"{folder} holds {', '.join(names[:4])}{' and more' if len(names) > 4 else ''}."


def _folder(folder):
    described = None
    path = os.path.join(folder, DATASET_FILE)
    if os.path.exists(path):
        try:
            with open(path, encoding="utf-8") as file:
                described = json.load(file)
            return Sources(_described_shards(folder, described), folder, described, [])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
            # What is wrong with it is a finding of its own; the records are looked at all the same.
            described = None
    names = sorted(
        {
            os.path.join(folder, name)
            for name in _listed(folder)
            for pattern in _RECORD_NAMES
            if fnmatch.fnmatch(name.lower(), pattern) and os.path.isfile(os.path.join(folder, name))
        }
    )
    if not names and not os.path.exists(path):
        raise DataError(
            f"{folder} holds no TFRecord files (names like *.record or *.tfrecord).",
            f"Name the files themselves if they are called otherwise; {_there(folder)}",
        )
    return Sources(
        [Shard(name, split_of(name), {}) for name in names],
        folder if os.path.exists(path) else None,
        described,
        _missing(names),
    )


def _described_shards(folder, described):
    """The shards that dataset.json names and that are there, and strangers that training would read too."""
    shards = []
    for split, content in described["splits"].items():
        named = {shard["file"]: shard for shard in content["shards"]}
        pattern = content.get("pattern")
        strangers = set(fnmatch.filter(_listed(folder), pattern)) - set(named) if pattern else set()
        shards += [
            Shard(shard_files.path(folder, {"file": name}), split, named.get(name, {}))
            for name in sorted(set(named) | strangers)
            if os.path.isfile(shard_files.path(folder, {"file": name}))
        ]
    return shards


def split_of(path: str) -> str:
    """The split that a file's name speaks of: train, val or test; else the name without its shard number."""
    name = os.path.basename(path)
    match = _SHARD.match(name)
    stem = match.group(1) if match else name
    words = [word for word in re.split(r"[^a-z]+", stem.lower()) if word]
    for word, split in _SPLIT_WORDS:
        if word in words:
            return split
    return stem


def _missing(paths):
    """[(set of shards, the name of a missing one)] where names say how many there should be."""
    sets: Dict[Tuple[str, str], Set[int]] = {}
    for path in paths:
        match = _SHARD.match(path)
        if match:
            sets.setdefault((match.group(1), match.group(3)), set()).add(int(match.group(2)))
    # A shard named alone is looked at alone.
    return [
        (stem, f"{stem}-{number:05d}-of-{total}")
        for (stem, total), there in sorted(sets.items())
        if len(there) > 1
        for number in range(min(int(total), 100000))
        if number not in there
    ]


def read_label_map(path: str) -> label_map.LabelMap:
    """The label map that --label-map names.

    Raises:
        UsageError: it cannot be used.
    """
    try:
        return label_map.read(path)
    except (ValueError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"The label map {path} cannot be used: {reason}.",
            "Name a text file with items of id and name, such as label_map.pbtxt.",
        ) from error


def classes(sources: Sources, path: Optional[str] = None) -> Optional[label_map.LabelMap]:
    """The LabelMap at path, else that of the prepared dataset, else None.

    Raises:
        UsageError: what path names is no label map.
    """
    if path is not None:
        return read_label_map(path)
    if sources.folder is None or sources.description is None:
        return None
    try:
        return label_map.read(os.path.join(sources.folder, sources.description["label_map"]))
    # `check.quick` and `scan` name what is wrong with it.
    except (ValueError, OSError, KeyError, TypeError):
        return None
