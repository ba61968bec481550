"""The decisions, with answers made up: where to run, and on which devices."""

import os
import subprocess
import sys

import pytest

from launcher import LaunchError, where


def yes():
    return None


def no_docker():
    return "no Docker engine answers"


def no_python():
    return "no CPython 3.7 or 3.6 was found"


def never():
    raise AssertionError("this place must not be asked")


def test_docker_is_chosen_when_it_answers_and_python_is_not_looked_for():
    place = where.choose(None, yes, never)
    assert place.kind == "docker"
    assert "RUN_IN=venv" in place.line


def test_without_docker_a_virtual_environment_is_chosen_and_the_line_says_why():
    place = where.choose("", no_docker, yes)
    assert place.line == (
        "Running in a virtual environment (no Docker engine answers); RUN_IN=docker insists on Docker."
    )


def test_run_in_venv_does_not_ask_docker():
    assert where.choose("venv", never, yes).kind == "venv"


def test_run_in_docker_does_not_fall_back():
    with pytest.raises(LaunchError, match="RUN_IN=docker cannot be met: no Docker engine answers") as caught:
        where.choose("docker", no_docker, never)
    assert caught.value.code == 3


def test_nowhere_to_run_names_three_ways_out():
    with pytest.raises(LaunchError) as caught:
        where.choose(None, no_docker, no_python)
    text = str(caught.value)
    assert caught.value.code == 3
    assert "no Docker engine answers, and no CPython 3.7 or 3.6 was found" in text
    ways = [line.split()[:2] for line in text.splitlines()[2:]]
    assert ways == [["1.", "Docker"], ["2.", "CPython"], ["3.", "uv,"]]


@pytest.mark.parametrize("value, guess", [("dcoker", "docker"), ("vnev", "venv"), ("DOCKER", "docker")])
def test_a_misspelt_run_in_is_refused_with_the_nearest(value, guess):
    with pytest.raises(LaunchError, match=f"RUN_IN={value} is not a place") as caught:
        where.choose(value, never, never)
    assert caught.value.code == 2
    assert f"Did you mean RUN_IN={guess}?" in caught.value.do


GOOD = where.DockerAnswer(
    engine="24.0.7", runtimes=("runc", "nvidia"), compose=(2, 20), base_image="tf", base_image_found=True
)


def test_a_good_docker_has_no_problem():
    assert where.docker_problem(GOOD, needs_nvidia=True) is None


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"engine": None, "why_not": "there is no docker command"}, "there is no docker command"),
        ({"compose": None}, "no compose plugin"),
        ({"compose": (2, 19)}, "compose is 2.19, and 2.20 or newer is needed"),
        ({"compose": (1, 29)}, "compose is 1.29"),
        ({"base_image_found": False}, "base image tf is neither on this machine nor reachable"),
        ({"runtimes": ("runc",)}, "no nvidia runtime"),
    ],
)
def test_what_is_missing_in_docker_is_named(changes, problem):
    assert problem in where.docker_problem(GOOD._replace(**changes), needs_nvidia=True)


def test_the_nvidia_runtime_is_missed_only_by_who_needs_it():
    assert where.docker_problem(GOOD._replace(runtimes=("runc",)), needs_nvidia=False) is None


@pytest.mark.parametrize("system, machine", [("Darwin", "arm64"), ("Linux", "aarch64"), ("Windows", "AMD64")])
def test_other_platforms_are_told_that_there_are_no_packages_for_them(system, machine):
    problem = where.platform_problem(system, machine)
    assert "x86-64 Linux only" in problem and machine in problem


def test_x86_64_linux_is_fine():
    assert where.platform_problem("Linux", "x86_64") is None


def test_without_gpu_training_is_on_virtual_cpus_and_says_so():
    settings, line = where.devices({}, 0, "train", "venv")
    assert settings == {"DEVICE": "cpu"}
    assert line == "No NVIDIA GPU found: DEVICE=cpu, training on two virtual CPU devices."


def test_num_gpus_is_the_number_of_virtual_devices_in_the_line():
    assert "on 1 virtual CPU device." in where.devices({"NUM_GPUS": "1"}, 0, "train", "venv")[1]


def test_a_gpu_is_used_when_there_is_one():
    settings, line = where.devices({}, 2, "train", "venv")
    assert settings == {"DEVICE": "gpu"}
    assert line == "Found 2 NVIDIA GPUs: DEVICE=gpu."


@pytest.mark.parametrize("gpus, device", [(0, "gpu"), (2, "cpu")])
def test_the_users_device_wins(gpus, device):
    settings, line = where.devices({"DEVICE": device}, gpus, "train", "venv")
    assert "DEVICE" not in settings
    assert line == f"DEVICE={device} as set."


@pytest.mark.parametrize(
    "environ, visible",
    [
        ({"TRAIN_GPUS": "0,1,2"}, "0,1,2"),
        ({"TRAIN_GPUS": "none"}, ""),
        ({"TRAIN_GPUS": "all"}, None),
        ({}, None),
        ({"CUDA_VISIBLE_DEVICES": "1"}, None),
    ],
)
def test_train_gpus_are_the_visible_ones_in_a_virtual_environment(environ, visible):
    settings, _ = where.devices(environ, 4, "train", "venv")
    assert settings.get("CUDA_VISIBLE_DEVICES") == visible


def test_in_docker_compose_chooses_the_gpus():
    settings, _ = where.devices({"TRAIN_GPUS": "0,1"}, 4, "train", "docker")
    assert settings == {"DEVICE": "gpu"}


def test_docker_without_a_gpu_needs_no_nvidia_runtime():
    settings, _ = where.devices({}, 0, "train", "docker")
    assert settings == {"DEVICE": "cpu", "DOCKER_RUNTIME": "runc"}


def test_the_users_docker_runtime_wins():
    assert "DOCKER_RUNTIME" not in where.devices({"DOCKER_RUNTIME": "nvidia"}, 0, "train", "docker")[0]


def test_evaluation_leaves_the_gpus_to_training():
    settings, line = where.devices({}, 2, "eval", "venv")
    assert settings == {"DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    assert line == "Evaluating on the CPU; EVAL_GPUS=0 uses the first GPU."


def test_an_evaluation_in_docker_that_is_told_to_use_a_gpu_gets_one():
    settings, line = where.devices({"DEVICE": "gpu"}, 2, "eval", "docker")
    assert (settings, line) == ({"EVAL_GPUS": "all"}, "DEVICE=gpu as set.")
    assert where.devices({"DEVICE": "gpu", "EVAL_GPUS": "3"}, 2, "eval", "docker")[0] == {}


@pytest.mark.parametrize("environ, visible", [({"EVAL_GPUS": "3"}, "3"), ({"CUDA_VISIBLE_DEVICES": "3"}, None)])
def test_evaluation_uses_the_gpu_named_for_it(environ, visible):
    settings, _ = where.devices(environ, 4, "eval", "venv")
    assert settings["DEVICE"] == "gpu"
    assert settings.get("CUDA_VISIBLE_DEVICES") == visible


def test_a_container_sees_the_images_of_detect_where_the_host_has_them(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "images").mkdir()
    arguments, options = where.mounted(
        ["--model", "model", "--out", "drawn", "--min-score", "0.3", "images/a.jpg", "images/b.jpg"], str(tmp_path)
    )

    def inside(name):
        return str(tmp_path / name)

    assert arguments == [
        "--model",
        inside("model"),
        "--out",
        inside("drawn"),
        "--min-score",
        "0.3",
        inside("images/a.jpg"),
        inside("images/b.jpg"),
    ]
    assert options == [
        "--volume",
        f"{inside('images')}:{inside('images')}:ro",
        "--volume",
        f"{inside('model')}:{inside('model')}:ro",
        "--volume",
        f"{inside('drawn')}:{inside('drawn')}",
    ]
    assert (tmp_path / "drawn").is_dir()


def test_the_launcher_needs_nothing_but_the_standard_library():
    done = subprocess.run(
        [sys.executable, "-S", "-m", "launcher", "help"],
        stdout=subprocess.PIPE,
        check=True,
        cwd=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    )
    assert done.stdout.startswith(b"usage: python3 -m launcher COMMAND")
