"""What lies in a prepared dataset, for the tests of all formats."""

import os

from data_prep.tfrecord import codec


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
    """{picture: reason} of a dataset.json."""
    return {entry["id"]: entry["reason"] for entry in dataset["skipped"]}
