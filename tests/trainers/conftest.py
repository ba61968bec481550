"""A small prepared dataset and the objects that the trainers' functions take, all without TensorFlow."""
import json
import os

import pytest

from trainers import dataset as datasets, devices as device_choice, settings as settings_module

CLASSES = ["Siamese", "pug", "Bengal"]


@pytest.fixture
def read_settings():
    """function(**variables) -> Settings, from nothing but those variables."""
    return lambda **environ: settings_module.read(environ)


@pytest.fixture
def dataset(tmp_path):
    """A Dataset whose shards are only named, not made."""
    folder = tmp_path / "mini-pets"
    folder.mkdir()
    description = {
        "format": 1, "name": "mini-pets", "num_classes": 3, "label_map": "label_map.pbtxt", "classes": CLASSES,
        "splits": {split: {"pattern": "pet_faces_%s.record-?????-of-00010" % split, "examples": count, "shards": []}
                   for split, count in (("train", 138), ("val", 58))}}
    (folder / "dataset.json").write_text(json.dumps(description))
    return datasets.Dataset("mini-pets", str(folder), "for a test", description)


@pytest.fixture
def two_cpus(read_settings):
    return device_choice.choose(read_settings(DEVICE="cpu"), [])


@pytest.fixture
def protos(api_dir, monkeypatch):
    """Makes the API's protobuf messages importable; they need no TensorFlow."""
    monkeypatch.syspath_prepend(api_dir)


@pytest.fixture
def project_dir():
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
