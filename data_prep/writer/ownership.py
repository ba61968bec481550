"""Which files of a folder are a dataset's: those that its dataset.json or the list of a conversion names."""

import os
import re
from typing import Iterable, Set

from common import files, ownership

DATASET_FILE = "dataset.json"
LABEL_MAP_FILE = "label_map.pbtxt"
# What the program puts beside a dataset, or reads from there, and no conversion touches.
BESIDE = ("contact-sheet.png", "raw")
_WRITTEN = re.compile(r"(.+\.record-\d{5}-of-\d{5}|dataset\.json|label_map\.pbtxt|raw)$")


def ours(folder: str) -> Set[str]:
    """Names in a folder that a list of ours has, or a dataset.json that this program wrote."""
    names = ownership.listed(folder)
    description = ownership.read_object(os.path.join(folder, DATASET_FILE))
    splits = description.get("splits")
    if "made_from" not in description or not isinstance(splits, dict):
        return names
    names |= {DATASET_FILE} | set(ownership.plain_names([description.get("label_map")]))
    if "drawn_by" in description:
        names.add("raw")
    # Adopted records stay their owner's, wherever they lie.
    for split in () if description.get("adopted") else splits.values():
        shards = split.get("shards") if isinstance(split, dict) else None
        for shard in shards if isinstance(shards, list) else ():
            names |= set(ownership.plain_names([shard.get("file")] if isinstance(shard, dict) else []))
    return names


def refuse_foreign(folder: str, beside: Iterable[str] = BESIDE) -> None:
    """Raises UsageError where a folder holds what is not provably a dataset of ours.

    Args:
        folder: it is there.
        beside: names that are left alone, whosever they are.
    """
    configs = {name for name in os.listdir(folder) if name.endswith(".config")}  # of make config, or of the user's own
    ownership.refuse_foreign(folder, ours(folder) | set(beside) | configs | _unfinished(folder))


def claim(folder: str, names: Iterable[str]) -> None:
    """Writes down which names a conversion is about to write, beside those that are ours already."""
    ownership.claim(folder, names, ours(folder))


def settle(folder: str) -> None:
    """Takes off the list what is not there, after a conversion, whole or failed."""
    ownership.settle(folder)


def _unfinished(folder):
    """What a killed conversion was writing before there was a list: the names say whose they are."""
    return {name for name in os.listdir(folder) if _WRITTEN.match(files.final_name(name) or "")}
