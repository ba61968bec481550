"""What a machine is asked, and what its answers are taken for."""

import os
import re
import time

import pytest

from common.project import PROJECT_DIR
from launcher import host


def test_a_pyenv_shim_that_does_not_run_is_passed_over(machine):
    machine.add("python3.7", "#!/bin/sh\necho 'pyenv: python3.7: command not found' >&2\nexit 127\n")
    machine.add_python("python", machine.home / ".pyenv" / "versions" / "3.7.16" / "bin")
    assert machine.run("setup").returncode == 0


def test_pyenv_is_found_where_pyenv_root_says(machine, tmp_path):
    folder = tmp_path / "env" / "versions" / "3.6.15" / "bin"
    machine.add_python("python", folder, version="3.6.15", minor="3.6")
    done = machine.run("setup", PYENV_ROOT=str(tmp_path / "env"))
    assert "Setting up .venv with Python 3.6.15" in done.out


def test_uv_installs_python_when_it_has_none(machine, tmp_path):
    python = machine.add_python("python3.7", tmp_path / "uv")
    installed = tmp_path / "installed"
    machine.add(
        "uv",
        f'#!/bin/sh\necho uv $* >>{machine.calls_file}\ncase "$2" in\n'
        f"  find) [ -e {installed} ] && echo {python};;\n  install) : >{installed};;\nesac\n",
    )
    assert machine.run("setup").returncode == 0
    assert machine.calls("uv")[:3] == ["uv python find 3.7", "uv python install 3.7", "uv python find 3.7"]


@pytest.mark.parametrize(
    "facts, reason",
    [
        ({"minor": "3.8"}, "is not CPython 3.6 or 3.7"),
        ({"cpython": False}, "is not CPython 3.6 or 3.7"),
        ({"bits64": False}, "is not a 64-bit build for glibc"),
        ({"glibc": False}, "is not a 64-bit build for glibc"),
        ({"venv": False}, "Debian: python3.7-venv"),
        ({"headers": False}, "Debian: python3.7-dev"),
    ],
)
def test_an_interpreter_that_will_not_do_is_passed_over_with_the_reason(machine, facts, reason):
    machine.add_python(**facts)
    done = machine.run("setup", RUN_IN="venv")
    assert done.returncode == 3
    assert done.err.startswith("RUN_IN=venv cannot be met: no CPython 3.7 or 3.6 was found")
    assert reason in done.err


def test_the_base_image_is_the_dockerfiles():
    with open(os.path.join(PROJECT_DIR, "docker", "Dockerfile")) as file:
        default = re.search(r"^ARG BASE_IMAGE=(\S+)$", file.read(), flags=re.MULTILINE).group(1)
    assert default == host.BASE_IMAGE


@pytest.fixture
def bare(machine, monkeypatch):
    """The machine, and the PATH of this process is its one."""
    monkeypatch.setenv("PATH", str(machine.bin))
    return machine


def test_a_question_without_an_answer_in_time_leaves_no_process_behind(bare):
    bare.add("slow", "#!/bin/sh\n/bin/sleep 60 &\necho $! >child\nwait\n".replace("child", str(bare.home / "child")))
    began = time.monotonic()
    answer = host.ask(["slow"], 0.5)
    assert (answer.code, answer.err) == (None, "no answer in 0.5 s") and time.monotonic() - began < 30
    child = (bare.home / "child").read_text().strip()
    deadline = time.monotonic() + 30
    # Killed with its parent; whoever adopted it may not have buried it yet.
    while os.path.exists(f"/proc/{child}") and "Z" not in open(f"/proc/{child}/stat").read().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_question_to_nobody_has_no_code(bare):
    assert host.ask(["nobody"], 5).code is None


def test_docker_is_asked_no_further_than_what_is_missing(bare):
    assert host.ask_docker("mine").why_not == "there is no docker command"
    bare.add_docker(info="echo 'Permission denied' >&2; exit 1")
    assert host.ask_docker("mine").why_not == "this user may not use Docker's socket"
    assert len(bare.calls("docker")) == 1
    bare.add_docker(compose="echo v2.17.2", image=1)
    answer = host.ask_docker("mine")
    assert (answer.engine, answer.runtimes, answer.compose) == ("24.0.7", ("runc", "nvidia"), (2, 17))
    assert not answer.base_image_found and bare.calls("docker")[-1] == "docker manifest inspect mine"


def test_gpus_are_those_that_a_working_driver_lists(bare):
    assert (host.count_gpus(), host.gpu_generations()) == (0, [])
    bare.add_gpus(1, "Tesla T4, 7.5", "NVIDIA A100-SXM4-40GB, 8.0")
    assert host.count_gpus() == 2
    assert host.gpu_generations() == [("Tesla T4", (7, 5)), ("NVIDIA A100-SXM4-40GB", (8, 0))]
    bare.add_gpus(1, "an error of an old driver")
    assert host.gpu_generations() == []
    bare.add("nvidia-smi", "#!/bin/sh\necho 'GPU 0: lost'\nexit 9\n")
    assert host.count_gpus() == 0


def test_the_image_is_taken_as_it_was_built_where_compose_knows_how(bare):
    assert host.as_built() == []
    bare.add_docker()
    assert host.as_built() == ["--pull", "never"] and host.image_id("mine") == "sha256:0123"


def test_what_is_passed_over_is_named_with_its_reason(bare):
    bare.add("python3.7", "#!/bin/sh\nexit 127\n")
    bare.add("python3.6", "#!/bin/sh\necho hello\n")
    found, reasons = host.find_python({"PYENV_ROOT": str(bare.home)})
    assert (found, reasons) == (
        None,
        [f"{bare.bin}/python3.7: does not run", f"{bare.bin}/python3.6: gives no sensible answer"],
    )


def test_a_machine_without_python_is_told_what_was_passed_over():
    assert host.python_problem([]).endswith("through uv")
    assert host.python_problem(["/a: does not run", "/b: is old"]).endswith("(/a: does not run; /b: is old)")
