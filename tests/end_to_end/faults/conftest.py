"""Trainings that something is done to while they run."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def start(tiny_command, ended):
    """function(folder, when, command="train", **settings) -> Run.

    `when` is {start of a console line: function(process)}.
    """

    def run(folder, when, command="train", **settings):
        argv, options = tiny_command(command, folder, **dict({"NUM_STEPS": "100000"}, **settings))
        lines = []
        with subprocess.Popen(argv, **options) as process:
            try:
                for line in process.stdout:
                    lines.append(line)
                    for beginning, act in when.items():
                        if line.startswith(beginning):
                            act(process)
                process.wait(timeout=60)
            finally:
                process.kill()
        return ended(process.returncode, "".join(lines), str(folder))

    return run
