"""What is in the image."""

import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import time

import pytest

from tests.image.containers import IMAGE, ROOT, build_cache, forget

pytestmark = pytest.mark.image

PYTHON = "/opt/tfod-train/venv/bin/python"


def test_it_adds_at_most_350_mb_to_its_base(image, engine):
    base = engine.images.get(image.labels["org.opencontainers.image.base.name"])
    added = (image.attrs["Size"] - base.attrs["Size"]) / 1e6
    print(f"adds {added:.0f} MB")
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
        "NOTICE",
        "api",
        "build.json",
        "common",
        "configs",
        "data_prep",
        "docker",
        "entrypoint.py",
        "object_detection_patches",
        "tfod_train",
        "venv",
    ]


def test_the_notice_names_the_api_and_every_package_with_its_licence(run):
    notice = run(["NOTICE"], entrypoint="cat", working_dir="/opt/tfod-train").log
    assert "tensorflow/models, commit 170c71cc555d458d2c85775bca92f802238e4dab" in notice
    told = {
        "{}=={}".format(name.lower().replace("_", "-"), version): licence
        for name, version, licence in re.findall(r"^  (\S+) (\S+): (.+)$", notice, re.MULTILINE)
    }
    with open(os.path.join(ROOT, "docker", "supply_chain", "licences.json")) as file:
        listed = {name: found.get("expression") or found["name"] for name, found in json.load(file).items()}
    with open(os.path.join(ROOT, "docker", "locks", "requirements-3.6.lock")) as file:
        locked = re.findall(r"^([a-z0-9][a-z0-9._-]*==[^\s;]+)", file.read(), re.MULTILINE)
    assert told == {name: listed[name] for name in locked}


def test_a_run_knows_what_its_image_was_built_from(compose, engine, image):
    try:
        assert compose.build(CODE_COMMIT="0123abc", CODE_VERSION="9.8.7").code == 0
        assert engine.images.get(IMAGE).labels["org.opencontainers.image.version"] == "9.8.7"
        told = engine.containers.run(
            IMAGE, ["-c", "from tfod_train.run import manifest; print(manifest.code())"], entrypoint=PYTHON, remove=True
        ).decode()
    finally:
        compose.build()
    assert told == "{}\n".format({"base": image.labels["org.opencontainers.image.base.name"], "commit": "0123abc"})


def test_no_python_file_is_compiled_again_at_each_start(run):
    """The user of the container cannot write beside them, so a missing .pyc costs seconds every time."""
    look = (
        "import importlib.util as u, os\n"
        "for top in ('common', 'data_prep', 'object_detection_patches', 'tfod_train', 'api/object_detection'):\n"
        "    assert os.path.isdir('/opt/tfod-train/' + top), top\n"
        "    for parent, _, names in os.walk('/opt/tfod-train/' + top):\n"
        "        for name in names:\n"
        "            path = os.path.join(parent, name)\n"
        "            if path.endswith('.py') and not os.path.exists(u.cache_from_source(path)):\n"
        "                print(path)\n"
    )
    assert run(["-c", look], entrypoint=PYTHON).log == ""


def test_a_base_with_another_python_is_refused_with_a_sentence(compose, engine, image):
    base = image.labels["org.opencontainers.image.base.name"]
    dockerfile = "\n".join(
        [
            "FROM " + base,
            r"RUN mkdir /other && printf '#!/bin/sh\necho 3.9\n' >/other/python3 && chmod +x /other/python3",
            "ENV PATH=/other:$PATH",
        ]
    )
    engine.images.build(fileobj=io.BytesIO(dockerfile.encode()), tag="tfod-train-test-other", rm=True)
    built = compose.build(BASE_IMAGE="tfod-train-test-other")
    assert built.code != 0
    assert "The base image has Python 3.9, for which there is no lock." in built.log


def listing(engine, image, folder="/opt/tfod-train"):
    """{path: (mode, time, sha256 or target)} of everything under a folder of an image."""
    container = engine.containers.create(image, ["never-started"])
    try:
        chunks, _ = container.get_archive(folder)
        data = io.BytesIO(b"".join(chunks))
    finally:
        container.remove()
    found = {}
    with tarfile.open(fileobj=data) as archive:
        for member in archive:
            content = hashlib.sha256(archive.extractfile(member).read()).hexdigest() if member.isfile() else None
            time_of_file = member.mtime if member.isfile() else None
            found[member.name] = (member.mode, time_of_file, content or member.linkname)
    return found


def test_two_builds_of_one_commit_give_the_same_files(compose, engine, image, clone):
    """Packages, API and project: content, mode and time; the second build takes nothing from a cache."""
    first = listing(engine, image)
    again = "tfod-train-test-again"
    cached = build_cache(engine)
    try:
        built = compose.build("--no-cache", image=again)
        assert built.code == 0, built.log
        assert re.search(r"Building on \S+ with Python 3\.\d\.", built.log)
        second = listing(engine, engine.images.get(again))
    finally:
        forget(engine, again, build_cache(engine) - cached)
    assert len(first) > 5000
    assert sorted(name for name in set(first) | set(second) if first.get(name) != second.get(name)) == []


def test_the_time_of_all_files_is_the_one_that_is_asked_for(compose, engine, image):
    """SOURCE_DATE_EPOCH; unset, that of the API's commit. One of the two stages that set it stands for both."""
    assert {found[1] for found in listing(engine, image).values() if found[1]} == {1625184000}
    stage = {"services": {"data": {"build": {"target": "code"}}}}
    name = "tfod-train-test-epoch"
    assert compose.build(image=name, change=stage, SOURCE_DATE_EPOCH="1700000000").code == 0
    assert {found[1] for found in listing(engine, name, "/code").values() if found[1]} == {1700000000}


def test_changed_code_rebuilds_only_the_last_layer(compose, clone, engine):
    compose.build()
    before = engine.images.get(IMAGE).attrs["RootFS"]["Layers"]
    path = os.path.join(clone, "tfod_train", "__init__.py")
    kept = path + ".kept"
    shutil.copy2(path, kept)
    try:
        with open(path, "a") as file:
            file.write(f"# changed {time.time()}\n")
        built = compose.build()
        layers = engine.images.get(IMAGE).attrs["RootFS"]["Layers"]
    finally:
        os.replace(kept, path)
        compose.build()
    assert built.code == 0, built.log
    assert layers[:-1] == before[:-1] and layers[-1] != before[-1]
