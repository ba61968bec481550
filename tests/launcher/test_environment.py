"""Making .venv, with an interpreter that only pretends: what is done, done again, and refused."""

import json
import os
import re
import signal
import time

import pytest


def wait_for(condition):
    deadline = time.time() + 60
    while not condition():
        assert time.time() < deadline, "it did not happen"
        time.sleep(0.02)


def test_everything_is_installed_by_hash_in_order(machine):
    machine.add_python()
    done = machine.run("setup")
    assert done.returncode == 0, done.err
    steps = [" ".join(call.split()[2:4]) for call in machine.calls("python -m")]
    assert steps == (
        [f"venv {machine.root}/.venv", "pip install", "pip install", "compileall -q"]
        + ["object_detection_patches " + verb for verb in ("fetch", "verify", "apply")]
        + ["compileall -q"]
    )
    build, packages = machine.calls("python -m pip")
    assert "--require-hashes" in build and build.endswith("build-3.7.lock")
    assert "--require-hashes" in packages and "--no-build-isolation" in packages
    assert packages.index("tensorflow-3.7.lock") < packages.index("requirements-3.7.lock")


def test_the_users_package_index_stays_in_force(machine):
    machine.add_python()
    machine.run("setup")
    assert not any("--index-url" in call or "--isolated" in call for call in machine.calls("python -m pip"))


def test_each_step_is_one_line_with_its_seconds(machine):
    machine.add_python()
    lines = machine.run("setup").out.splitlines()
    assert lines[1] == "Setting up .venv with Python 3.7.16 (once; details in .venv/install.log)."
    assert re.match(r" *Build tools +\d+ s$", lines[3])


def test_python_finds_the_patched_api_through_a_path_that_moves_with_the_clone(machine):
    machine.add_python()
    machine.run("setup")
    site_packages = machine.root / ".venv" / "lib" / "python3.7" / "site-packages"
    line = (site_packages / "object_detection_api.pth").read_text().strip()
    assert not os.path.isabs(line)
    assert os.path.isdir(str(site_packages / line / "object_detection"))


def test_a_second_setup_does_nothing(machine, cpu_secs):
    machine.add_python()
    machine.run("setup", RUN_IN="venv")
    before = machine.calls()
    busy = cpu_secs()
    done = machine.run("setup", RUN_IN="venv")
    assert cpu_secs() - busy < 0.5
    assert machine.calls() == before
    assert done.out == "Running in a virtual environment (RUN_IN=venv).\nThe virtual environment is ready.\n"


def test_packages_of_the_tests_come_only_when_asked_for(machine):
    machine.add_python()
    machine.run("setup")
    assert not any("test-3.7.lock" in call for call in machine.calls())
    machine.run("setup", "--tests")
    assert machine.calls("python -m pip")[2].endswith("test-3.7.lock")
    machine.run("setup", "--tests")
    assert len(machine.calls("python -m pip")) == 3


def test_the_tools_of_lint_come_only_when_asked_for_and_once(machine):
    machine.add_python()
    for _ in range(2):
        done = machine.run("lint", "mypy")
        assert done.returncode == 0 and "ran -m launcher.lint mypy" in done.out
    assert [call.split("/")[-1] for call in machine.calls("python -m pip")[2:]] == ["lint-3.7.lock"]
    assert not any("test-3.7.lock" in call for call in machine.calls())


def test_lint_says_on_python_3_6_that_it_needs_a_newer_one_and_hinders_nothing(machine):
    machine.add_python("python3.6", version="3.6.15", minor="3.6")
    done = machine.run("lint")
    assert done.returncode == 0
    assert done.out.endswith("make lint needs Python 3.7 or newer, and .venv has Python 3.6: nothing was checked.\n")
    assert "ran -m launcher.lint" not in done.out
    assert machine.run("pytest").returncode == 0


def test_a_changed_lock_makes_everything_anew(machine):
    machine.add_python()
    machine.run("setup")
    (machine.root / ".venv" / "leftover").write_text("")
    (machine.root / "docker" / "locks" / "requirements-3.7.lock").write_text("a==2\n")
    machine.run("setup")
    assert len(machine.calls("python -m venv")) == 2
    assert not (machine.root / ".venv" / "leftover").exists()


def test_a_changed_patch_makes_the_api_anew_and_nothing_else(machine):
    machine.add_python()
    machine.run("setup")
    machine.patch.write_text("edit = 2\n")
    done = machine.run("setup")
    assert len(machine.calls("python -m venv")) == 1
    assert len(machine.calls("python -m object_detection_patches fetch")) == 2
    assert "Bringing .venv up to date (details in .venv/install.log)." in done.out


def test_a_deleted_interpreter_makes_everything_anew(machine):
    machine.add_python()
    machine.run("setup")
    (machine.root / ".venv" / "bin" / "python").unlink()
    assert machine.run("setup").returncode == 0
    assert len(machine.calls("python -m venv")) == 2


@pytest.mark.parametrize(
    "step", ["-m venv", "build-3.7.lock", "requirements-3.7.lock", "fetch", "apply", "tensorflow,"]
)
def test_a_failed_step_shows_the_log_and_the_next_setup_begins_cleanly(machine, step):
    machine.add_python()
    machine.fail_file.write_text(step)
    done = machine.run("setup")
    assert done.returncode == 3
    assert "    ERROR: no such package" in done.err
    assert done.err.splitlines()[-1].startswith("Correct what they name")
    assert machine.run("setup").returncode == 3, "a failed setup must not count as done"
    machine.fail_file.unlink()
    assert machine.run("setup").returncode == 0


def hold_in_pip(machine):
    """Starts a setup that stays in its first pip until the hold file is removed."""
    machine.add_python()
    machine.hold_file.write_text("build-3.7.lock")
    process = machine.start("setup")
    wait_for(lambda: machine.calls("python -m pip"))
    return process


def start_waiting(machine):
    """Starts a setup and returns when it has said that it waits for another."""
    process = machine.start("setup")
    while "Another setup is at work in .venv; waiting for it." not in process.stdout.readline():
        assert process.poll() is None
    return process


def test_two_at_once_wait_for_each_other(machine):
    first = hold_in_pip(machine)
    second = start_waiting(machine)
    machine.hold_file.unlink()
    for process in (first, second):
        process.communicate()
    assert (first.returncode, second.returncode) == (0, 0)
    assert len(machine.calls("python -m venv")) == 1


def test_a_killed_setup_is_begun_again_after_its_last_step_has_ended(machine):
    killed = hold_in_pip(machine)
    killed.kill()
    killed.wait()
    # pip is still there and writes into .venv.
    following = start_waiting(machine)
    machine.hold_file.unlink()
    for process in (killed, following):
        process.communicate()
    assert following.returncode == 0
    assert len(machine.calls("python -m venv")) == 2
    assert json.loads((machine.root / ".venv" / "stamp.json").read_text())["minor"] == "3.7"


def test_an_interrupt_stops_with_its_own_code(machine):
    process = hold_in_pip(machine)
    process.send_signal(signal.SIGINT)
    machine.hold_file.unlink()
    _, err = process.communicate()
    assert process.returncode == 130
    assert "Stopped." in err and "Traceback" not in err


def test_a_missing_compiler_is_named_before_anything_is_installed(machine):
    machine.add_python()
    (machine.bin / "gcc").unlink()
    done = machine.run("setup")
    assert done.returncode == 3
    assert done.err.startswith("There is no C compiler (gcc)")
    assert "apt-get install gcc" in done.err
    assert not machine.calls("python -m")


def test_a_missing_lock_is_named(machine):
    machine.add_python()
    machine.run("setup")
    (machine.root / "docker" / "locks" / "build-3.7.lock").unlink()
    done = machine.run("setup")
    assert done.returncode == 3
    assert "git checkout -- docker/locks/build-3.7.lock" in done.err
