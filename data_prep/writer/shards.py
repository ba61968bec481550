"""Where the records that a dataset.json names lie: in its folder, by one pattern, or, where adopted, anywhere."""

import os
from typing import Any, Dict, List

# What the API takes for a pattern in an input_path; a file that is named by itself must have none of them.
MAGIC = "*?[\\"


def path(folder: str, shard: Dict[str, Any]) -> str:
    """The path of a shard, an entry of `shards` in a split of the dataset.json in folder."""
    return os.path.normpath(os.path.join(folder, shard["file"]))


def patterns(folder: str, split: Dict[str, Any]) -> List[str]:
    """What an input reader is given to read a split: the pattern, or the files where they were adopted."""
    if "pattern" in split:
        return [os.path.join(folder, split["pattern"])]
    return [path(folder, shard) for shard in split["shards"]]


def adopted_name(folder: str, record: str) -> str:
    """How the dataset.json in folder names somebody's file.

    Relative where the file lies below the folder that holds the dataset's, such as data/, which another machine and a
    container have elsewhere; else absolute.
    """
    folder, record = os.path.abspath(folder), os.path.abspath(record)
    above = os.path.dirname(folder)
    if os.path.islink(folder) or above == os.sep or not record.startswith(above + os.sep):
        return record
    return os.path.relpath(record, folder)
