"""What people read, and when."""

import io
import os
import subprocess
import sys

import pytest

from tfod_train.process.console import Console, duration


@pytest.mark.parametrize("secs, text", [(0.4, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_durations_read_as_people_say_them(secs, text):
    assert duration(secs) == text


def test_progress_elsewhere_than_on_a_terminal_is_a_line_every_20_seconds():
    now = [0.0]
    terminal = io.StringIO()
    console = Console(terminal, clock=lambda: now[0])
    for step in range(1, 101):
        now[0] += 0.5
        console.progress(step, 100, "loss 1", "step")
    assert terminal.getvalue().splitlines() == ["step 41 of 100  loss 1", "step 81 of 100  loss 1"]


CAPTURE = """
import os, sys
from tfod_train.process.console import Console
console = Console()
console.say("before")
console.capture(sys.argv[1], debug=sys.argv[2] == "debug")
os.write(2, b"noise of a C++ library\\n")
print("noise of Python")
console.say("after")
console.error("an error")
console.release()
os.execv(sys.executable, [sys.executable, "-c", "print('the next program')"])
"""


CRASH = """
import ctypes, os, sys
from tfod_train.process.console import Console
Console().capture(sys.argv[1])
os.write(2, b"what():  std::bad_alloc\\n")
os.abort() if sys.argv[2] == "abort" else ctypes.string_at(0)
"""


@pytest.mark.parametrize(
    "how, code, words",
    [("abort", -6, "Fatal Python error: Aborted"), ("segfault", -11, "Fatal Python error: Segmentation fault")],
)
def test_a_crash_of_a_library_is_not_silent(how, code, words, tmp_path, project_dir):
    log = tmp_path / "train.log"
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(log), how],
        cwd=project_dir,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, PYTHONPATH="."),
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (code, words)
    assert log.read_text().endswith("what():  std::bad_alloc\n")


@pytest.mark.parametrize("level", ["info", "debug"])
def test_noise_goes_to_the_log_and_sentences_to_both(level, tmp_path, project_dir):
    log = tmp_path / "train.log"
    done = subprocess.run(
        [sys.executable, "-c", CAPTURE, str(log), level],
        cwd=project_dir,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, PYTHONPATH="."),
    )
    kept = log.read_text()
    assert "after\n" in kept and "an error\n" in kept
    console = done.stdout + done.stderr
    assert ("noise of a C++ library" in console) == ("noise of Python" in console) == (level == "debug")
    assert ("noise of a C++ library" in kept and "noise of Python" in kept) == (level == "info")
    assert done.stderr.splitlines()[-1] == "an error"
    assert done.stdout.splitlines()[-1] == "the next program"
