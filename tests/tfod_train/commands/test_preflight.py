"""`entrypoint.py preflight` shows what was looked at."""

import io
import json
import os
import subprocess
import sys

import pytest

from common.errors import Refused
from tfod_train.process.console import Console

pytestmark = pytest.mark.usefixtures("protos")


def test_the_command_shows_one_screen_and_json_without_tensorflow(mini, api_dir, tmp_path, project_dir, cpu_secs):
    environ = dict(
        os.environ,
        DEVICE="cpu",
        DATASET=str(mini),
        RUN_DIR=str(tmp_path / "run"),
        PYTHONPATH=api_dir,
        PIPELINE_CONFIG="configs/ssd_mobilenet_v1_mini_pets.config",
    )
    before = cpu_secs()
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", "entrypoint.py", "preflight"],
        cwd=project_dir,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert cpu_secs() - before < 10
    assert "tensorflow.python" not in shown.stderr
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = shown.stdout.splitlines()
    assert len(lines) < 25 and lines[-1] == "Training can start."
    without_gpu = dict(environ, DEVICE="gpu", CUDA_VISIBLE_DEVICES="-1")
    done = subprocess.run(
        [sys.executable, "entrypoint.py", "preflight", "--json"],
        cwd=project_dir,
        env=without_gpu,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    )
    answer = json.loads(done.stdout)
    assert done.returncode == answer["exit_code"] == 3
    assert {one["check"]: one["level"] for one in answer["lines"]}["devices"] == "error"
    assert {(one["level"], one["code"]) for one in answer["lines"]} == {("ok", 0), ("error", 3)}


@pytest.fixture
def shown(look, monkeypatch):
    """function(lines, *arguments) -> (exit code, what the command shows of a look that found these (level, code)s)."""
    from tfod_train.commands import preflight
    from tfod_train.preflight import checks

    report = look()

    def show(found, *arguments):
        lines = [checks.Line("disk", level, "It is so.", "Do that.", code) for level, code in found]
        monkeypatch.setattr(checks, "look", lambda settings: report._replace(lines=lines))
        terminal = io.StringIO()
        return preflight.preflight(None, Console(terminal), list(arguments)), terminal.getvalue()

    return show


@pytest.mark.parametrize(
    "found, code, last",
    [
        ([("ok", 0)], 0, "Training can start."),
        ([("ok", 0), ("warning", 3)], 0, "Training can start, with 1 warning."),
        ([("warning", 3), ("error", 2), ("error", 3)], 3, "Training would be refused: 2 errors."),
    ],
)
def test_the_last_line_says_whether_a_training_can_start(found, code, last, shown):
    ended, text = shown(found)
    assert (ended, text.splitlines()[-1]) == (code, last)
    assert text.count("It is so. Do that.") == len(found)


def test_json_has_a_code_for_errors_alone(shown):
    code, text = shown([("warning", 3), ("error", 2)], "--json")
    answer = json.loads(text)
    assert code == answer["exit_code"] == 2
    assert [(line["level"], line["code"]) for line in answer["lines"]] == [("warning", 0), ("error", 2)]


def test_other_arguments_are_refused(shown):
    with pytest.raises(Refused, match="preflight does not take --jsn.") as refused:
        shown([], "--jsn")
    assert refused.value.code == 2
