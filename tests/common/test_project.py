"""The project's own files are found from anywhere."""

import os
import subprocess
import sys

from common.project import PROJECT_DIR


def test_the_folder_holds_what_is_looked_for_in_it():
    assert {"configs", "entrypoint.py", "docker"} <= set(os.listdir(PROJECT_DIR))


def test_it_is_the_same_wherever_a_command_runs(tmp_path):
    code = "from common.project import PROJECT_DIR; print(PROJECT_DIR)"
    # A relative path on sys.path, as where Python runs a script by such a name.
    environ = dict(os.environ, PYTHONPATH=os.path.relpath(PROJECT_DIR, str(tmp_path)))
    shown = subprocess.check_output([sys.executable, "-c", code], cwd=str(tmp_path), env=environ)
    assert os.path.isabs(shown.decode().strip()) and os.path.samefile(shown.decode().strip(), PROJECT_DIR)
