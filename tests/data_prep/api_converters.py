"""Runs the API's own converters, of the tree on PYTHONPATH, several times in one process: TensorFlow starts once.

    python api_converters.py JOBS.json

JOBS.json is a list of {"converter": "pet", "pascal" or "coco", "flags": {...}}.
"""

import importlib
import json
import sys

import tensorflow.compat.v1 as tf


def main(path):
    with open(path) as source:
        jobs = json.load(source)
    defined_by_tensorflow = set(tf.app.flags.FLAGS)
    for converter in sorted({job["converter"] for job in jobs}):
        # Both converters define flags of the same names.
        for name in set(tf.app.flags.FLAGS) - defined_by_tensorflow:
            delattr(tf.app.flags.FLAGS, name)
        module = importlib.import_module(f"object_detection.dataset_tools.create_{converter}_tf_record")
        module.FLAGS(["converter"])
        for job in jobs:
            if job["converter"] == converter:
                for name, value in job["flags"].items():
                    setattr(module.FLAGS, name, value)
                module.main(None)


if __name__ == "__main__":
    main(sys.argv[1])
