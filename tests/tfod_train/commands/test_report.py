"""`entrypoint.py report` writes the page anew; ../report has what stands on it."""

import os
import subprocess
import sys

import pytest

from common.errors import Refused
from tests.tfod_train.report.runs import record, write_run
from tfod_train.commands import report


def test_it_needs_no_tensorflow(tmp_path, api_dir, project_dir):
    run = write_run(tmp_path / "my run", records=[record(1), record(2)])
    code = (
        "import sys, entrypoint, tfod_train.report.page; early = 'jinja2' in sys.modules; "
        "code = entrypoint.main(['report']); sys.exit(code or 9 * ('tensorflow' in sys.modules) or 8 * early)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project_dir,
        check=True,
        stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=api_dir, RUN_DIR=str(run)),
        universal_newlines=True,
    )
    assert done.stdout.strip() == f"Wrote {run / 'report.html'}."
    assert (run / "report.html").stat().st_size > 10000


def test_a_run_is_named_by_a_setting_and_not_by_an_argument(tmp_path, read_settings):
    run = write_run(tmp_path / "run")
    with pytest.raises(Refused, match=f"report takes no arguments: {run}"):
        report.report(read_settings(), None, [str(run)])
    assert not (run / "report.html").exists()
