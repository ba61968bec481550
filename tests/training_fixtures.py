"""Datasets, the objects that the trainers' functions take, and entrypoint.py run as people run it."""

import json
import os
import re
import struct
import subprocess
import sys
from typing import NamedTuple

import google_crc32c
import pytest

from common.project import PROJECT_DIR
from tfod_train import settings as settings_module
from tfod_train.config import dataset as datasets
from tfod_train.devices import devices as device_choice
from tfod_train.run import context, run_dir

CLASSES = ["Siamese", "pug", "Bengal"]
# A whole training on a busy machine too. One that hangs ends itself (STALL_SECS).
ENDS_IN_SECS = 1800
CHECKPOINT = re.compile(r"model\.ckpt-(\d+)\.index$")


class Run(NamedTuple):
    """A finished process: its exit code, its console and its RUN_DIR."""

    code: int
    console: str
    folder: str

    @property
    def lines(self):
        return self.console.splitlines()

    @property
    def checkpoints(self):
        return sorted(int(match.group(1)) for match in map(CHECKPOINT.match, os.listdir(self.folder)) if match)

    def manifest(self):
        with open(os.path.join(self.folder, "run.json")) as source:
            return json.load(source)

    def metrics(self):
        with open(os.path.join(self.folder, "eval", "metrics.json")) as source:
            return json.load(source)


@pytest.fixture(scope="session")
def ended():
    """The class Run, for tests that start a process themselves."""
    return Run


@pytest.fixture(scope="session")
def command(api_dir, mini):
    """function(name, folder, **settings) -> (argv, keyword arguments) for subprocess."""

    def make(name, folder, **settings):
        environ = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR")}
        environ.update(
            {
                "DEVICE": "cpu",
                "DATASET": str(mini),
                "RUN_DIR": folder,
                "PYTHONPATH": api_dir,
                "PIPELINE_CONFIG": "configs/ssd_mobilenet_v1_mini_pets.config",
                "BATCH_SIZE": "8",
            }
        )
        environ.update(settings)
        return [sys.executable, "entrypoint.py", name], dict(
            cwd=PROJECT_DIR, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
        )

    return make


@pytest.fixture(scope="session")
def run(command):
    """function(name, folder, **settings) -> Run, when it has ended."""

    def finish(name, folder, **settings):
        argv, arguments = command(name, folder, **settings)
        done = subprocess.run(argv, timeout=ENDS_IN_SECS, **arguments)
        return Run(done.returncode, done.stdout, folder)

    return finish


@pytest.fixture(scope="session")
def with_masks(mini, tmp_path_factory):
    """Folder of the built-in images with boxes around bodies and with masks."""
    from data_prep.__main__ import main as data_prep

    out = tmp_path_factory.mktemp("data") / "masks"
    assert (
        data_prep(
            [
                "pets",
                "--source",
                str(mini / "raw"),
                "--boxes",
                "body",
                "--masks",
                "png",
                "--out",
                str(out),
                "--max-skipped",
                "1",
            ]
        )
        == 0
    )
    return out


SCENARIOS = os.path.join(PROJECT_DIR, "tests", "end_to_end", "scenarios")
TINY_CONFIG = os.path.join(SCENARIOS, "tiny_ssd.config")
TINY = {"PIPELINE_CONFIG": TINY_CONFIG, "EVAL_AT_END": "0", "PLUGINS": "tests.end_to_end.scenarios.tiny_plugin"}


@pytest.fixture(scope="session")
def tiny_command(command):
    """function(name, folder, *arguments, **settings) -> (argv, keyword arguments) for subprocess.

    As `command`, with a model of two convolutions.
    """

    def make(name, folder, *arguments, **settings):
        argv, options = command(name, str(folder), **dict(TINY, **settings))
        return argv + [str(one) for one in arguments], options

    return make


@pytest.fixture(scope="session")
def tiny(tiny_command):
    """function(name, folder, *arguments, **settings) -> Run of entrypoint.py with a model of two convolutions."""

    def finish(name, folder, *arguments, **settings):
        argv, options = tiny_command(name, folder, *arguments, **settings)
        done = subprocess.run(argv, timeout=ENDS_IN_SECS, **options)
        return Run(done.returncode, done.stdout, str(folder))

    return finish


@pytest.fixture(scope="session")
def tiny_training(tiny):
    """function(folder, **settings) -> Run of `entrypoint.py train`.

    12 to 17 seconds of one core, most of them TensorFlow's import.
    """
    return lambda folder, **settings: tiny("train", folder, **settings)


@pytest.fixture
def tiny_config(tmp_path):
    """function(*(old, new)) -> path of the tiny model's config with those texts replaced."""

    def write(*changes):
        with open(TINY_CONFIG) as source:
            text = source.read()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "tiny.config"
        path.write_text(text)
        return str(path)

    return write


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
        "format": 1,
        "name": "mini-pets",
        "num_classes": 3,
        "label_map": "label_map.pbtxt",
        "classes": CLASSES,
        "splits": {
            split: {"pattern": f"pet_faces_{split}.record-?????-of-00010", "examples": count, "shards": []}
            for split, count in (("train", 138), ("val", 58))
        },
    }
    (folder / "dataset.json").write_text(json.dumps(description))
    return datasets.Dataset("mini-pets", str(folder), "for a test", description)


def masked(data):
    crc = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


FOUR_FLOATS = struct.pack("<4f", 1, 2, 3, 4)


@pytest.fixture(scope="session")
def write_checkpoint():
    """function(prefix, values=b"...") -> writes a checkpoint of one float vector `v` as TensorFlow's saver does."""

    def block(*pairs):
        content = b"".join(bytes((0, len(key), len(value))) + key + value for key, value in pairs)
        content += struct.pack("<II", 0, 1)
        return content + b"\0" + struct.pack("<I", masked(content + b"\0"))

    def write(prefix, values=FOUR_FLOATS):
        header = b"\x08\x01"
        entry = (
            b"\x08\x01"
            + bytes((0x12, 4, 0x12, 2, 8, len(values) // 4, 0x28, len(values), 0x35))
            + struct.pack("<I", masked(values))
        )
        data = block((b"", header), (b"v", entry))
        meta = block()
        index = block((b"v", bytes((0, len(data) - 5))))
        handles = bytes((len(data), len(meta) - 5, len(data) + len(meta), len(index) - 5))
        with open(prefix + ".index", "wb") as out:
            out.write(data + meta + index + handles.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))
        with open(prefix + ".data-00000-of-00001", "wb") as out:
            out.write(values)
        with open(prefix + ".meta", "wb") as out:
            out.write(b"graph")

    return write


@pytest.fixture
def planned_run(dataset, two_cpus, read_settings):
    """function(folder, config, **settings) -> Run on two virtual CPU devices, of which nothing is written yet."""

    def make(folder, config, start_step=0, **settings):
        return context.Run(
            read_settings(**dict({"DEVICE": "cpu"}, **settings)),
            two_cpus,
            dataset,
            os.path.join(PROJECT_DIR, "configs", "ssd_mobilenet_v1_mini_pets.config"),
            config,
            ["batch_size: 16 -> 8"],
            run_dir.RunDir(str(folder)),
            start_step,
        )

    return make


@pytest.fixture
def two_cpus(read_settings):
    return device_choice.choose(read_settings(DEVICE="cpu"), [])


@pytest.fixture
def protos(api_dir, monkeypatch):
    """Makes the API's protobuf messages importable; they need no TensorFlow."""
    monkeypatch.syspath_prepend(api_dir)


@pytest.fixture(scope="session")
def project_dir():
    return PROJECT_DIR
