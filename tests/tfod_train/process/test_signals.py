"""Stopping by signal, without TensorFlow."""

import os
import signal
import subprocess
import sys
import time

import pytest

# Writes without a pause, so that the signal comes in the middle of a write.
BUSY = """
import sys
from tfod_train.process.console import Console
from tfod_train.process.signals import StopRequest
console = Console()
stop = StopRequest(console.say_from_signal, lambda number: console.say_from_signal("before exit %d" % number))
stop.install()
stop.in_steps = sys.argv[1] == "in steps"
if sys.argv[1] == "after the last step":
    stop.steps_are_over()
while not stop.requested:
    console.say("step")
sys.exit(stop.exit_code)
"""


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("when", ["in steps", "before the first step", "after the last step"])
def test_a_signal_stops_whatever_it_interrupts(when, number, code, project_dir):
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", BUSY, when],
            cwd=project_dir,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, PYTHONPATH="."),
        ) as process:
            assert process.stdout.readline() == b"step\n"
            time.sleep(0.05)
            process.send_signal(number)
            console = process.stdout.read()
        assert process.returncode == code, console[-500:]
        assert {
            "in steps": b"Stopping after this step and saving",
            "before the first step": b"Stopped at once: nothing was saved.",
            "after the last step": b"Stopped at once: the training is saved.",
        }[when] in console
        assert (b"before exit %d" % number in console) == (when == "before the first step")
