"""Is a prepared dataset folder fit for training? The answer before TensorFlow builds anything."""

import fnmatch
import json
import os
import re

from data_prep import records
from data_prep.dataset import DATASET_FILE, FORMAT
from data_prep.errors import DataError

_BOX_KEYS = tuple("image/object/bbox/" + side for side in ("xmin", "ymin", "xmax", "ymax"))
_REQUIRED_KEYS = ("image/encoded", "image/format", "image/source_id", "image/object/class/label") + _BOX_KEYS
_LABEL_MAP_ITEM = re.compile(r"item\s*\{(.*?)\}", re.DOTALL)
_LABEL_MAP_ID = re.compile(r"\bid:\s*(-?\d+)")
_LABEL_MAP_NAME = re.compile(r"""\bname:\s*["']([^"']*)["']""")


def quick(dataset_dir):
    """Return what is wrong with a prepared dataset as a list of sentences; empty when it is fit for training.

    Reads dataset.json, the label map, each shard's size and record headers, and its first record.
    Milliseconds for thousands of pictures; a flipped bit inside a later picture is not found.
    """
    path = os.path.join(dataset_dir, DATASET_FILE)
    if not os.path.isdir(dataset_dir):
        return ["There is no folder %s." % dataset_dir]
    if not os.path.exists(path):
        return ["%s has no %s, so its preparation never ended." % (dataset_dir, DATASET_FILE)]
    try:
        with open(path, encoding="utf-8") as file:
            dataset = json.load(file)
        return _problems(dataset_dir, dataset)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return ["%s is not a description of a dataset (%s: %s)." % (path, type(error).__name__, error)]


def complete(dataset_dir, **expected):
    """The dataset.json of a dataset that `quick` finds fit and that has the expected values, or None.

    Says so on standard output, because whoever asks will then do nothing.
    """
    if quick(dataset_dir):
        return None
    with open(os.path.join(dataset_dir, DATASET_FILE), encoding="utf-8") as file:
        dataset = json.load(file)
    if any(dataset.get(key) != value for key, value in expected.items()):
        return None
    counts = ["%d %s pictures" % (split["examples"], name) for name, split in dataset["splits"].items()]
    print("%s is already complete: %s. Nothing to do (--force converts again)." % (
        dataset_dir, " and ".join(counts)), flush=True)
    return dataset


def _problems(dataset_dir, dataset):
    if dataset["format"] != FORMAT:
        return ["%s is of format %r; this version reads format %d." % (
            os.path.join(dataset_dir, DATASET_FILE), dataset["format"], FORMAT)]
    problems = _label_map_problems(os.path.join(dataset_dir, dataset["label_map"]), dataset)
    for name in ("train", "val"):
        problems += _split_problems(dataset_dir, name, dataset["splits"][name], dataset["num_classes"])
    return problems


def _label_map_problems(path, dataset):
    if not os.path.exists(path):
        return ["The label map %s is missing." % path]
    with open(path, encoding="utf-8") as file:
        items = _LABEL_MAP_ITEM.findall(file.read())
    found = {}
    for item in items:
        number, name = _LABEL_MAP_ID.search(item), _LABEL_MAP_NAME.search(item)
        if not number or not name:
            return ["%s has an item without id or name." % path]
        found[int(number.group(1))] = name.group(1)
    if found != dict(enumerate(dataset["classes"], 1)) or len(found) != dataset["num_classes"]:
        return ["%s and the %d classes of %s do not agree." % (path, dataset["num_classes"], DATASET_FILE)]
    return []


def _split_problems(dataset_dir, name, split, num_classes):
    problems = []
    listed = {shard["file"] for shard in split["shards"]}
    strangers = sorted(set(fnmatch.filter(os.listdir(dataset_dir), split["pattern"])) - listed)
    problems += [
        "%s would be read too, but is no shard of this dataset." % os.path.join(dataset_dir, stranger)
        for stranger in strangers
    ]
    if not listed or split["examples"] < 1:
        problems.append("The %s split of %s is empty." % (name, dataset_dir))
    if sum(shard["examples"] for shard in split["shards"]) != split["examples"]:
        problems.append("The %s shards of %s do not add up to %d examples." %
                        (name, dataset_dir, split["examples"]))
    for shard in split["shards"]:
        path = os.path.join(dataset_dir, shard["file"])
        try:
            problems += _shard_problems(path, shard, num_classes)
        except DataError as error:
            problems.append(error.what)
        except OSError as error:
            problems.append("%s cannot be read (%s)." % (path, error.strerror))
    return problems


def _shard_problems(path, shard, num_classes):
    if not os.path.exists(path):
        return ["%s is missing." % path]
    size = os.path.getsize(path)
    if size != shard["bytes"]:
        return ["%s has %d bytes instead of %d." % (path, size, shard["bytes"])]
    found = records.count(path)
    if found != shard["examples"] or found == 0:
        return ["%s holds %d examples instead of %d." % (path, found, max(shard["examples"], 1))]
    return ["The first record of %s %s." % (path, problem)
            for problem in _example_problems(next(records.read(path)), num_classes)]


def _example_problems(payload, num_classes):
    try:
        features = records.decode(payload)
    except ValueError as error:
        return ["is %s" % error]
    missing = [key for key in _REQUIRED_KEYS if key not in features]
    if missing:
        return ["has no %s" % ", ".join(missing)]
    problems = []
    labels = features["image/object/class/label"]
    if not features["image/encoded"] or not features["image/encoded"][0]:
        problems.append("has no picture")
    if any(len(features[key]) != len(labels) for key in _BOX_KEYS):
        problems.append("has %d labels for another number of boxes" % len(labels))
    if any(not 0.0 <= value <= 1.0 for key in _BOX_KEYS for value in features[key]):
        problems.append("has a box outside of its picture")
    if any(not 1 <= label <= num_classes for label in labels):
        problems.append("has a label outside of 1 to %d" % num_classes)
    return problems
