"""What is in the image."""
import io

import pytest

pytestmark = pytest.mark.image

PYTHON = "/opt/tfod-train/venv/bin/python"


def test_it_adds_at_most_350_mb_to_its_base(image, engine):
    base = engine.images.get(image.labels["org.opencontainers.image.base.name"])
    added = (image.attrs["Size"] - base.attrs["Size"]) / 1e6
    print("adds {:.0f} MB".format(added))
    assert 0 < added < 350


def test_everything_both_trainers_need_is_imported(run):
    done = run(["/opt/tfod-train/docker/import_check.py"], entrypoint=PYTHON)
    assert done.code == 0 and done.log.endswith(" modules import.\n")


def test_no_package_misses_or_contradicts_another(run):
    done = run(["-m", "pip", "--disable-pip-version-check", "check"], entrypoint=PYTHON)
    assert done.log == "No broken requirements found.\n"


def test_the_api_is_the_pinned_one_with_all_patches(run):
    done = run(["-m", "object_detection_patches", "verify", "/opt/tfod-train/api"], entrypoint=PYTHON)
    assert done.code == 0
    assert ", 0 patched by another version, 0 foreign" in done.lines[0]
    assert " 0 patched," not in done.lines[0]


def test_only_what_runs_is_in_it(run):
    found = run(["-c", "import os; print(*sorted(os.listdir('/opt/tfod-train')))"], entrypoint=PYTHON)
    assert found.log.split() == [
        "api", "configs", "data_prep", "docker", "entrypoint.py", "object_detection_patches", "trainers",
        "venv"]


def test_no_python_file_is_compiled_again_at_each_start(run):
    """The user of the container cannot write beside them, so a missing .pyc costs seconds every time."""
    look = (
        "import importlib.util as u, os\n"
        "for top in ('trainers', 'data_prep', 'api/object_detection'):\n"
        "    for parent, _, names in os.walk('/opt/tfod-train/' + top):\n"
        "        for name in names:\n"
        "            path = os.path.join(parent, name)\n"
        "            if path.endswith('.py') and not os.path.exists(u.cache_from_source(path)):\n"
        "                print(path)\n")
    assert run(["-c", look], entrypoint=PYTHON).log == ""


def test_a_base_with_another_python_is_refused_with_a_sentence(compose, engine, image):
    base = image.labels["org.opencontainers.image.base.name"]
    dockerfile = "\n".join([
        "FROM " + base,
        r"RUN mkdir /other && printf '#!/bin/sh\necho 3.9\n' >/other/python3 && chmod +x /other/python3",
        "ENV PATH=/other:$PATH"])
    engine.images.build(fileobj=io.BytesIO(dockerfile.encode()), tag="tfod-train-test-base", rm=True)
    try:
        built = compose.build(BASE_IMAGE="tfod-train-test-base")
    finally:
        engine.images.remove("tfod-train-test-base")
    assert built.code != 0
    assert "The base image has Python 3.9, for which there is no lock." in built.log
