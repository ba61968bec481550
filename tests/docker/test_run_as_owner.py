"""What the image's entrypoint decides; tests/image shows that it does it."""

import os
import sys

import pytest


@pytest.fixture
def run_as_owner(script):
    return script("run_as_owner")


@pytest.mark.parametrize(
    "environ, device",
    [
        ({}, ""),
        ({"NVIDIA_VISIBLE_DEVICES": "all"}, ""),
        ({"NVIDIA_VISIBLE_DEVICES": "none"}, "cpu"),
        ({"NVIDIA_VISIBLE_DEVICES": "void"}, "cpu"),
        ({"NVIDIA_VISIBLE_DEVICES": "none", "DEVICE": "gpu"}, "gpu"),
        ({"DEVICE": "cpu"}, "cpu"),
    ],
)
def test_a_container_given_no_gpu_on_purpose_uses_the_cpu(run_as_owner, environ, device):
    assert run_as_owner.device(environ) == device


def test_commands_go_to_the_entrypoint_and_tensorboard_to_tensorboard(run_as_owner, root):
    entrypoint = os.path.join(root, "entrypoint.py")
    assert run_as_owner.command_line(["train"], {}) == [sys.executable, entrypoint, "train"]
    assert run_as_owner.command_line([], {}) == [sys.executable, entrypoint]
    assert run_as_owner.command_line(["tensorboard", "--logdir", "/runs"], {}) == [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        "/runs",
    ]


@pytest.mark.parametrize(
    "arguments, environ, source",
    [
        (["data", "pets"], {"PETS_DIR": "/pets"}, ["--source", "/pets"]),
        (["data", "pets"], {"PETS_DIR": ""}, []),
        (["data", "pets", "--source", "/data/mine"], {"PETS_DIR": "/pets"}, []),
        (["data", "mini-pets"], {"PETS_DIR": "/pets"}, []),
    ],
)
def test_the_mounted_images_are_the_source_of_pets(run_as_owner, arguments, environ, source):
    assert run_as_owner.command_line(arguments, environ)[2:] == arguments + source


@pytest.mark.parametrize(
    "run_dir, is_lost",
    [
        (None, False),
        ("runs/mine", False),
        ("/runs/mine", False),
        ("./runs/mine/", False),
        ("/tmp/mine", True),
        ("mine", True),
        ("runs", True),
        ("runs/../mine", True),
    ],
)
def test_a_run_outside_of_the_mounted_folder_is_refused_before_its_results_are_lost(
    run_as_owner, monkeypatch, run_dir, is_lost
):
    monkeypatch.chdir("/")
    environ = {} if run_dir is None else {"RUN_DIR": run_dir}
    problem = run_as_owner.lost("train", environ)
    assert (problem is not None) == is_lost
    assert run_as_owner.lost("data", environ) is None


@pytest.mark.parametrize(
    "arguments, folder",
    [
        (["export"], None),
        (["export", "--out", "runs/mine"], None),
        (["export", "--out", "mine"], "runs"),
        (["export", "--checkpoint", "best", "--out=/home/me/mine"], "runs"),
        (["export", "--out", "/out/mine"], None),
        (["export", "--out", "/tmp/mine"], "runs"),
        (["detect", "--model", "runs/m", "a.jpg"], "runs"),
        (["detect", "--out", "/runs/drawn", "a.jpg"], None),
        (["detect", "--help"], None),
        ([], None),
        (["data", "voc", "--source", "/pets", "--out", "mine"], "data"),
        (["data", "pets"], None),
        (["data", "voc", "--source", "/pets", "--out", "data/mine"], None),
        (["tensorboard", "--out", "x"], None),
    ],
)
def test_results_that_would_go_with_the_container_are_refused(run_as_owner, monkeypatch, arguments, folder):
    monkeypatch.chdir("/")
    monkeypatch.setattr(run_as_owner, "mount_points", lambda: {"/", "/tmp", "/runs", "/data", "/out"})
    problem = run_as_owner.lost_out(arguments)
    assert (problem is not None) == (folder is not None)
    assert folder is None or f"Name one in {folder}/" in problem


def test_the_container_ends_with_2_before_anything_that_would_be_lost_is_made(run_as_owner, monkeypatch, capsys):
    monkeypatch.setattr(run_as_owner, "become_owner", lambda folder: None)
    monkeypatch.setattr(run_as_owner, "mount_points", lambda: {"/", "/runs"})
    monkeypatch.setattr(run_as_owner.os, "execve", lambda *_: pytest.fail("it was started"))
    assert run_as_owner.main(["export", "--out", "/mine"]) == 2
    assert capsys.readouterr().err.startswith("--out /mine is in no folder of the host's")


def test_mounts_are_read_as_the_kernel_writes_them(run_as_owner, tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(
        "1 0 0:5 / / rw - overlay overlay rw\n2 1 8:1 /home/me /runs rw,noatime - ext4 /dev/sda1 rw\n"
        "3 1 8:1 /a /my\\040images rw - ext4 /dev/sda1 rw\n"
    )
    assert run_as_owner.mount_points(str(table)) == {"/", "/runs", "/my images"}
    assert os.sep in run_as_owner.mount_points()
