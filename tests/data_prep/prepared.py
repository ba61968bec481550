"""Making a prepared dataset, and what lies in it, for the tests of all formats."""

import os
import sys

from data_prep.source import prepare as base
from data_prep.tfrecord import codec


def prepare(module, source, out, options=None, **how):
    """Converts the folder source into out as a format's module plans it; returns dataset.json. how: of base.prepare."""
    options = module.Options() if options is None else options
    return base.prepare(lambda: module.plan(str(source), "prepared", options), str(out), **how)


def examples(out, split="*"):
    """{source id: features} of a prepared dataset; fails if two examples have the same id."""
    found = {}
    for name in sorted(os.listdir(str(out))):
        if ".record-" in name and (split == "*" or f"_{split}." in name):
            for payload in codec.read(os.path.join(str(out), name)):
                features = codec.decode(payload)
                key = features["image/source_id"][0].decode("utf-8")
                assert key not in found
                found[key] = features
    return found


def skipped(dataset):
    """{image: reason} of a dataset.json."""
    return {entry["id"]: entry["reason"] for entry in dataset["skipped"]}


def shard_hashes(dataset):
    return [shard["sha256"] for split in ("train", "val") for shard in dataset["splits"][split]["shards"]]


def content(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(str(folder))}


def command(*arguments):
    return [sys.executable, "-m", "data_prep"] + [str(argument) for argument in arguments]
