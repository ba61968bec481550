"""The patches apply to a user's own checkout: tensorflow/models of 2022-06-03, whose files have Windows line ends."""

import ast
import os
import subprocess
import sys
import tarfile

import pytest

from object_detection_patches import tree
from object_detection_patches.patches import PATCHES

pytestmark = [pytest.mark.nightly, pytest.mark.newer_checkout]

SDIST = "tf_models_research_object_detection-2.8.0.post1"
SHA256 = "c701ea455646553a64c5f161641e8d5a94054b162b81961dcfff3dd619870004"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """(path, files the patches wrote, content of the tree before) of that checkout, slim one folder down."""
    folder = tmp_path_factory.mktemp("newer")
    (folder / "requirements.txt").write_text("tf_models_research_object_detection==2.8.0.post1 --hash=sha256:" + SHA256)
    # As it is published: nothing is built, and what it depends on is not fetched.
    subprocess.check_call(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-binary",
            ":all:",
            "--no-build-isolation",
            "--require-hashes",
            "--dest",
            str(folder),
            "--requirement",
            str(folder / "requirements.txt"),
        ]
    )
    with tarfile.open(str(folder / (SDIST + ".tar.gz"))) as archive:
        wanted = (SDIST + "/object_detection/", SDIST + "/slim/")
        archive.extractall(
            str(folder),
            [
                member
                for member in archive.getmembers()
                if member.isfile() and member.name.startswith(wanted) and ".." not in member.name
            ],
        )
    root = str(folder / SDIST)
    before = {path: read(root, path) for path in tree.source.python_files(root)}
    return root, tree.apply(root, tree.select()), before


def read(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return file.read()


def test_every_patch_finds_what_it_changes(checkout):
    root, written, _ = checkout
    assert tree.verify(root).patches == PATCHES
    for name in PATCHES:
        (patch,) = tree.select(only=[name])
        for path in patch.files + patch.adds:
            assert {path, "slim/" + path} & set(written), name


def test_windows_line_ends_stay_and_the_files_are_python(checkout):
    root, written, before = checkout
    for path in written:
        data = read(root, path)
        ast.parse(data)
        if path in before:
            assert before[path] != data
            assert data.count(b"\n") == data.count(b"\r\n") > 0, path


def test_applying_again_changes_nothing_and_applying_none_brings_the_checkout_back(checkout):
    root, _, before = checkout
    assert tree.apply(root, tree.select()) == []
    try:
        tree.apply(root, [])
        assert {path: read(root, path) for path in tree.source.python_files(root)} == before
    finally:
        tree.apply(root, tree.select())


def test_the_patched_checkout_trains_on_two_clones_and_reads_for_two_workers(checkout, play_on):
    root, _, _ = checkout
    play = play_on(root, os.path.join(root, "slim"))
    clones = play("clones")
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["clone_devices"] == ["/device:CPU:0", "/device:CPU:1"] and "global_step" in clones["variables"]
    (first, _), (second, _) = play("workers")["shuffled"]
    assert len(set(first) | set(second)) == len(first) + len(second) == 24
