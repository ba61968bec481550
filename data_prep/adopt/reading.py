"""TFRecords of somebody's own and their label map, read whole, and what a dataset.json says of them."""

import collections
import hashlib
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from common import files
from common.errors import DataError, UsageError
from common.text import counted
from data_prep.check import inputs, scan
from data_prep.check.problems import ERROR, KINDS, WARNING, Findings, place_text, sentence
from data_prep.wording import name_text
from data_prep.writer import dataset
from data_prep.writer.shards import MAGIC

# Kinds of masks, and input_reader.mask_type of each.
_MASK_TYPES = {"png": "PNG_MASKS", "numerical": "NUMERICAL_MASKS"}


class Adopted(NamedTuple):
    """Records that were read. splits: {split: its files}; label_map: the file; report: what the check found in them."""

    splits: Dict[str, List[str]]
    label_map: str
    report: scan.Report


def read(patterns: Mapping[str, Sequence[str]], label_map: str) -> Adopted:
    """Reads every byte of the records, once; shows how far it is.

    Args:
        patterns: {split: files or glob patterns}; "train" and "val" at least.
        label_map: the file with their classes.

    Raises:
        UsageError: the label map cannot be used, or a file is none that a training could be given, or in two splits.
        DataError: there is nothing where a pattern points.
    """
    inputs.read_label_map(label_map)
    found = {split: _find(given) for split, given in patterns.items()}
    splits = {split: [shard.path for shard in sources.shards] for split, sources in found.items()}
    _refuse_shared(splits)
    shards = [shard._replace(split=split) for split, sources in found.items() for shard in sources.shards]
    # A set of shards may be divided: some train, and the others validate.
    named = {os.path.basename(shard.path) for shard in shards}
    missing = [one for sources in found.values() for one in sources.missing if os.path.basename(one[1]) not in named]
    options = scan.Options(label_map=label_map, describe=True)
    report = scan.scan(inputs.Sources(shards, None, None, missing), options)
    # What is said there is how to ask `check` for more.
    return Adopted(splits, label_map, report._replace(notes=[]))


def _find(given):
    """The Sources of a split's patterns."""
    for path in given:
        if os.path.isdir(path):
            raise UsageError(
                f"{path} is a folder, and which of its files train and which validate is not known.",
                f"Name the files of one split: '{os.path.join(path, '*train*')}'.",
            )
    sources = inputs.find(given)
    for shard in sources.shards:
        if any(sign in shard.path for sign in MAGIC):
            raise UsageError(
                f"The API would take the path {shard.path} for a pattern ({' '.join(MAGIC)}).",
                "Give the file, or its folder, a name without these signs.",
            )
        if name_text(shard.path) != shard.path:
            raise UsageError(
                f"The path {name_text(shard.path)} is no text in UTF-8, as a config has to be.",
                "Give the file, or its folder, another name.",
            )
    return sources


def _refuse_shared(splits):
    """No file may be in two splits, under whichever names."""
    seen: Dict[Tuple[int, int], Tuple[str, str]] = {}
    for split, paths in splits.items():
        for path in paths:
            status = os.stat(path)
            other, name = seen.setdefault((status.st_dev, status.st_ino), (split, path))
            if other != split:
                same = f"{path} is" if name == path else f"{name} and {path} are one file,"
                raise UsageError(
                    f"{same} in both splits, {other} and {split}.",
                    "Name each file in one of them: what was trained on proves nothing in an evaluation.",
                )


def refuse_errors(findings: Findings, records: int, more: str) -> None:
    """Refuses records that cannot be trained on, naming the first place.

    Args:
        findings: of a scan.
        records: how many were read.
        more: a sentence that says where all errors are listed.

    Raises:
        DataError: there is an error.
    """
    kinds = findings.kinds(ERROR)
    if not kinds:
        return
    place, count = findings.first(kinds[0]), findings.total(ERROR)
    where = place_text(place._replace(detail=""))
    in_all = f" It is the first of {count} errors in {counted(records, 'record')}." if count > 1 else ""
    raise DataError(
        f"These records cannot be trained on: {where and where + ': '}{sentence(kinds[0], place.detail)}{in_all}",
        KINDS[kinds[0]].do + (f" {more}" if count > 1 else ""),
    )


def describe(adopted: Adopted, name: str, label_map: str, file_name: Callable[[str], str]) -> Dict[str, Any]:
    """The content of a dataset.json for records without an error.

    Args:
        adopted: as `read` gives it.
        name: of the dataset.
        label_map: as the dataset.json names it.
        file_name: function(path of a record file) -> as the dataset.json names it.
    """
    report = adopted.report
    names = inputs.read_label_map(adopted.label_map).names
    most_boxes = max(split.most_boxes for split in report.splits.values())
    splits = {split: _split(count, names, file_name) for split, count in report.splits.items()}
    return {
        "format": dataset.FORMAT,
        "adopted": True,
        "name": name,
        "num_classes": max(names),
        "label_map": label_map,
        "classes": [names[number] for number in sorted(names)],
        "splits": splits,
        "skipped": [],
        "changed": [],
        "unused": [],
        "problems": [],
        "warnings": _warnings(report.findings),
        "picture_sizes": dataset.sizes(
            sum((split.picture_sizes for split in report.splits.values()), collections.Counter())
        ),
        "most_boxes": most_boxes,
        "config": _config(splits, max(names), label_map, report.masks, most_boxes),
        "made_from": made_from(adopted.splits, adopted.label_map),
    }


def made_from(splits: Mapping[str, Sequence[str]], label_map: str) -> Dict[str, Any]:
    """What tells whether a description is still of the same files; splits: {split: its files}."""
    label_map_sha256 = hashlib.sha256(files.read(label_map)).hexdigest()
    return {"records": splits, "label_map": label_map, "label_map_sha256": label_map_sha256}


def _split(count, names, file_name):
    return {
        "shards": [
            {
                "file": file_name(shard["path"]),
                "sha256": shard["sha256"],
                "bytes": shard["bytes"],
                "examples": shard["examples"],
            }
            for shard in count.shards
        ],
        "listed": count.records,
        "examples": count.records,
        "boxes": count.boxes,
        "boxes_per_class": {names[number]: count.classes[number] for number in sorted(names)},
    }


def _config(splits, num_classes, label_map, masks, most_boxes):
    inputs_of = {split: [shard["file"] for shard in content["shards"]] for split, content in splits.items()}
    config: Dict[str, Any] = {
        "num_classes": num_classes,
        "label_map_path": label_map,
        "train_input_path": inputs_of["train"],
        "eval_input_path": inputs_of["val"],
    }
    if masks and masks[0] in _MASK_TYPES:
        config.update(load_instance_masks=True, mask_type=_MASK_TYPES[masks[0]])
    if most_boxes > dataset.API_BOXES:
        config["max_number_of_boxes"] = most_boxes
    return config


def _warnings(findings):
    return [
        f"{kind.what.rstrip('.')}: {counted(count, 'time')}, first {where.splitlines()[0] if where else 'in all'}"
        for kind, count, where in findings.rows()
        if kind.severity == WARNING
    ]
