"""The Dockerfile on a base with Python 3.8, that of NVIDIA's TensorFlow 1 image. The stand-in has no TensorFlow,
so this ends before the check that imports it: what is left to prove on the real base is that check."""

import glob
import os
import subprocess

import pytest

from tests.image.containers import ROOT, build_cache, forget

pytestmark = pytest.mark.image

BASE = "tfod-train-test-python38"
BUILT = "tfod-train-test-on-python38"
PYTHON = "/opt/tfod-train/venv/bin/python"


def python_home():
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(glob.glob(os.path.join(root, "versions", "3.8.*")))
    return found[-1] if found else None


@pytest.fixture(scope="module")
def base(engine, tmp_path_factory):
    """An image with Python 3.8 and, as NVIDIA's, its own numpy and protobuf beside it."""
    home = python_home()
    if home is None:
        pytest.skip("there is no Python 3.8 under pyenv to make a base of")
    context = tmp_path_factory.mktemp("python38")
    (context / "Dockerfile").write_text(
        "\n".join(
            [
                "FROM " + (os.environ.get("BASE_IMAGE") or "tensorflow/tensorflow:1.15.0-gpu-py3"),
                "COPY python /opt/python38",
                "COPY base-3.8.lock /tmp/",
                "ENV PATH=/opt/python38/bin:$PATH LD_LIBRARY_PATH=/opt/python38/lib",
                "RUN python3 -m pip install --quiet --require-hashes --no-cache-dir -r /tmp/base-3.8.lock",
            ]
        )
    )
    subprocess.check_call(["cp", os.path.join(ROOT, "docker", "locks", "base-3.8.lock"), str(context)])
    subprocess.check_call(["cp", "-a", home, str(context / "python")])
    engine.images.build(path=str(context), tag=BASE, network_mode="host", rm=True)
    subprocess.check_call(["rm", "-r", str(context / "python")])
    return BASE


@pytest.fixture
def on_python38(base, compose, engine):
    """The Dockerfile's stage before TensorFlow is imported, built on that base; with what the build said."""
    stage = {"services": {"data": {"build": {"target": "dependencies"}}}}
    cached = build_cache(engine)
    built = compose.build(image=BUILT, change=stage, BASE_IMAGE=base)
    assert built.code == 0, built.log
    yield built.log
    # The base is another one each time, so none of it would be used again.
    forget(engine, BUILT, build_cache(engine) - cached)


def test_it_is_built_from_the_locks_for_3_8_with_the_bases_numpy_and_protobuf(on_python38, engine):
    assert "Building on tfod-train-test-python38 with Python 3.8." in on_python38
    look = (
        "import numpy, google.protobuf, scipy.io, lxml.etree, PIL.Image, pycocotools.mask, pydantic\n"
        "from object_detection.protos import pipeline_pb2\n"
        "import importlib.util\n"
        "modules = numpy, google.protobuf, scipy, PIL, pipeline_pb2\n"
        "print(*[module.__file__.split('/')[2] for module in modules])\n"
        "print(importlib.util.find_spec('tensorflow'))\n"
    )
    log = engine.containers.run(
        BUILT, ["-c", look], entrypoint=PYTHON, environment={"PYTHONPATH": ""}, remove=True, stderr=True
    ).decode()
    assert log == "python38 python38 tfod-train tfod-train tfod-train\nNone\n"
