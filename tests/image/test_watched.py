"""What other tests rely on: a process that a command leaves behind, or does not wait for, gets into the log."""

import re
import time

import pytest

from tests.image.containers import WATCH, WATCH_VOLUME, assert_alone, assert_clean

pytestmark = pytest.mark.image

LEAVES_ONE = "import subprocess; subprocess.Popen(['sleep', '60'])"
LEAVES_A_DAEMON = (
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0: os.execvp('sleep', ['sleep', '60'])\n"
    "    os._exit(0)\n"
    "os.wait()\n"
)
LEAVES_A_ZOMBIE = "import subprocess, time; left = subprocess.Popen(['true']); time.sleep(15)"


def wait_for(container, word):
    for _ in range(300):
        if word in container.logs():
            return
        time.sleep(0.1)
    raise AssertionError(container.logs())


@pytest.mark.parametrize(
    "program, told",
    [
        (LEAVES_ONE, r"^leftover: process \d+ \(S\): sleep 60$"),
        (LEAVES_A_DAEMON, r"^leftover: process \d+ \(S\): sleep 60$"),
        (LEAVES_A_ZOMBIE, r"^leftover: zombie \d+ \(Z\): true$"),
    ],
)
def test_what_a_command_leaves_behind_fails_a_test(start_dirty, program, told):
    container = start_dirty(["-c", program])
    assert container.wait(timeout=60)["StatusCode"] == 0
    log = container.logs().decode()
    assert re.search(told, log, re.MULTILINE)
    with pytest.raises(AssertionError, match="leftover"):
        assert_clean(log)


def test_a_second_process_of_a_running_container_fails_a_test(start_dirty):
    assert_alone(start_dirty(["-c", "import time; time.sleep(60)"]))
    container = start_dirty(["-c", LEAVES_ONE + "; import time; print('left', flush=True); time.sleep(60)"])
    wait_for(container, b"left")
    with pytest.raises(AssertionError):
        assert_alone(container)


def test_the_exit_code_and_the_signals_are_those_of_the_command(start_dirty):
    assert start_dirty(["-c", "raise SystemExit(4)"]).wait()["StatusCode"] == 4
    container = start_dirty(
        [
            "-c",
            "import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
            "print('ready', flush=True)\n"
            "time.sleep(60)",
        ]
    )
    wait_for(container, b"ready")
    container.stop(timeout=30)
    assert container.wait()["StatusCode"] == 143


@pytest.fixture
def start_dirty(engine, image):
    """function(arguments of python) -> a watched container that nobody holds to be clean; removed afterwards."""
    started = []

    def run(arguments):
        started.append(
            engine.containers.run(image, ["python"] + arguments, entrypoint=WATCH, volumes=WATCH_VOLUME, detach=True)
        )
        return started[-1]

    yield run
    for container in started:
        container.remove(force=True)
