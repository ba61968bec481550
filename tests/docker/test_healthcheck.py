"""The health check believes the health file, and nothing else."""

import json
import os
import subprocess
import sys

import pytest

from tfod_train.process import health

NOW = 1000000.0


@pytest.fixture
def judge(script, tmp_path):
    """function(text of the health file, None for no file) -> (healthy, line)."""

    def ask(text):
        path = tmp_path / "health.json"
        if text is not None:
            path.write_text(text)
        return script("healthcheck").judge(str(path), NOW)

    return ask


@pytest.mark.parametrize("silent, healthy", [(0, True), (119, True), (120, False), (4000, False)])
def test_silence_is_healthy_for_as_long_as_the_phase_allows(judge, silent, healthy):
    text = json.dumps({"phase": "training", "at": NOW - silent, "fresh_for_secs": 120})
    assert judge(text) == (healthy, f"training, last sign of life {silent} s ago, at most 120 s are normal")


def test_nothing_started_is_not_healthy(judge):
    assert judge(None) == (False, "nothing has started yet")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"phase": "training", "at": null, "fresh_for_secs": 1}'])
def test_a_damaged_file_is_not_healthy_and_said_so(judge, text):
    healthy, line = judge(text)
    assert not healthy and "damaged" in line


def test_it_reads_the_file_that_training_writes(root, tmp_path):
    name = os.path.basename(health.PATH)
    health.Health(str(tmp_path / name)).beat("building")
    done = subprocess.run(
        [sys.executable, os.path.join(root, "docker", "healthcheck.py")],
        stdout=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, TMPDIR=str(tmp_path)),
    )
    assert (done.returncode, done.stdout[:9]) == (0, "building,")


def test_a_training_that_the_watchdog_ends_is_not_healthy_at_once(judge):
    text = json.dumps({"phase": "stalled", "at": NOW, "fresh_for_secs": health.FRESH_FOR_SECS["stalled"]})
    assert not judge(text)[0]
