"""Is a prepared dataset folder fit for training? The answer before TensorFlow builds anything.

`scan` is the thorough form, for any TFRecords; both judge a record by `example_rules.problems`.
"""

import fnmatch
import json
import os
from typing import Any, Dict, List, Optional

from common.errors import DataError
from common.text import counted
from data_prep.check.problems import ERROR, KINDS, sentence
from data_prep.tfrecord import codec, example_rules, label_map
from data_prep.writer import shards
from data_prep.writer.dataset import DATASET_FILE, FORMAT


def quick(dataset_dir: str) -> List[str]:
    """Return what is wrong with a prepared dataset as a list of sentences; empty when it is fit for training.

    Reads dataset.json, the label map, each shard's size and record headers, and its first record.
    Milliseconds for thousands of images; a flipped bit inside a later image is not found.
    """
    return _on_description(
        dataset_dir, lambda dataset: _description(dataset_dir, dataset) + _records(dataset_dir, dataset)
    )


def description_problems(dataset_dir: str) -> List[str]:
    """The part of `quick` that opens no shard, for `scan`, which reads every record itself."""
    return _on_description(dataset_dir, lambda dataset: _description(dataset_dir, dataset))


def _on_description(dataset_dir, problems_of):
    path = os.path.join(dataset_dir, DATASET_FILE)
    if not os.path.isdir(dataset_dir):
        return [f"There is no folder {dataset_dir}."]
    if not os.path.exists(path):
        return [f"{dataset_dir} has no {DATASET_FILE}, so its preparation never ended."]
    try:
        with open(path, encoding="utf-8") as file:
            dataset = json.load(file)
        if dataset["format"] != FORMAT:
            return [f"{path} is of format {dataset['format']!r}; this version reads format {FORMAT}."]
        return problems_of(dataset)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return [f"{path} is not a description of a dataset ({type(error).__name__}: {error})."]
    except OSError as error:
        return [f"{error.filename or path} cannot be read ({error.strerror})."]


def complete(dataset_dir: str, **expected: Any) -> Optional[Dict[str, Any]]:
    """The dataset.json of a dataset that is fit for training and as expected, or None.

    Says so on standard output, because whoever asks will then do nothing.

    Args:
        dataset_dir: the folder.
        expected: the values that keys of dataset.json have to have.
    """
    if quick(dataset_dir):
        return None
    with open(os.path.join(dataset_dir, DATASET_FILE), encoding="utf-8") as file:
        dataset = json.load(file)
    if any(dataset.get(key) != value for key, value in expected.items()):
        return None
    counts = [counted(split["examples"], f"{name} image") for name, split in dataset["splits"].items()]
    print(
        f"{dataset_dir} is already complete: {' and '.join(counts)}. Nothing to do (--force converts again).",
        flush=True,
    )
    return dataset


def _description(dataset_dir, dataset):
    """What dataset.json and the label map say of themselves and of the files' sizes."""
    problems = _label_map_problems(os.path.join(dataset_dir, dataset["label_map"]), dataset)
    for name in ("train", "val"):
        problems += _split_problems(dataset_dir, name, dataset)
    return problems


def _label_map_problems(path, dataset):
    if not os.path.exists(path):
        return [f"The label map {path} is missing."]
    try:
        found = label_map.read(path).names
    except ValueError as reason:
        return [f"The label map {path} cannot be used: {reason}."]
    # Ids may leave numbers out where records were adopted; num_classes is the largest.
    gaps = len(found) != max(found) and not dataset.get("adopted")
    if (
        gaps
        or [found[number] for number in sorted(found)] != dataset["classes"]
        or max(found) != dataset["num_classes"]
    ):
        return [f"{path} and the {dataset['num_classes']} classes of {DATASET_FILE} do not agree."]
    return []


def _split_problems(dataset_dir, name, dataset):
    split = dataset["splits"][name]
    problems = []
    listed = {shard["file"] for shard in split["shards"]}
    if not dataset.get("adopted"):
        strangers = sorted(set(fnmatch.filter(os.listdir(dataset_dir), split["pattern"])) - listed)
        problems += [
            f"{os.path.join(dataset_dir, stranger)} would be read too, but is no shard of this dataset."
            for stranger in strangers
        ]
    if not listed or split["examples"] < 1:
        problems.append(f"The {name} split of {dataset_dir} is empty.")
    if sum(shard["examples"] for shard in split["shards"]) != split["examples"]:
        problems.append(f"The {name} shards of {dataset_dir} do not add up to {split['examples']} examples.")
    for shard in split["shards"]:
        path = shards.path(dataset_dir, shard)
        if not os.path.isfile(path):
            problems.append(f"{path} is missing.")
        elif os.path.getsize(path) != shard["bytes"]:
            problems.append(f"{path} has {os.path.getsize(path)} bytes instead of {shard['bytes']}.")
    return problems


def _records(dataset_dir, dataset):
    """What the headers and the first record of each shard say; a shard of the wrong size has been named."""
    try:
        classes = label_map.read(os.path.join(dataset_dir, dataset["label_map"]))
    except (ValueError, OSError):
        return []  # _description has named it
    rules = example_rules.Rules(num_classes=dataset["num_classes"], label_map=classes)
    problems = []
    for name in ("train", "val"):
        for shard in dataset["splits"][name]["shards"]:
            path = shards.path(dataset_dir, shard)
            if os.path.isfile(path) and os.path.getsize(path) == shard["bytes"]:
                problems += _shard_problems(path, shard["examples"], rules)
    return problems


def _shard_problems(path, expected, rules):
    try:
        found = codec.count(path)
        if found != expected or found == 0:
            return [f"{path} holds {found} examples instead of {max(expected, 1)}."]
        features = example_rules.parse(next(codec.read(path)))
    except DataError as error:
        return [error.what]
    except ValueError as error:
        return [f"The first record of {path} is {error}."]
    except OSError as error:
        return [f"{path} cannot be read ({error.strerror})."]
    return [
        f"The first record of {path}: {sentence(problem.kind, problem.detail)}"
        for problem in example_rules.problems(features, rules)
        if KINDS[problem.kind].severity == ERROR
    ]
