"""The health file, as docker/healthcheck.py reads it (tests/docker/test_healthcheck.py)."""

import json

import pytest

from tfod_train.process import health

NOW = 1000000.0


def test_a_training_is_healthy_for_as_long_as_its_watchdog_waits(tmp_path):
    health.Health(str(tmp_path / "written"), clock=lambda: NOW, stall_secs=900).beat("training")
    written = json.loads((tmp_path / "written").read_text())
    assert (written["phase"], written["fresh_for_secs"]) == ("training", 900)


@pytest.fixture
def beats(tmp_path):
    """function(phase, seconds after NOW) -> the health file then."""
    now = [NOW]
    made = health.Health(str(tmp_path / "health.json"), clock=lambda: now[0])

    def beat(phase, secs):
        now[0] = NOW + secs
        made.beat(phase)
        return json.loads((tmp_path / "health.json").read_text())

    return beat


def test_the_same_phase_is_written_once_a_second_and_another_at_once(beats):
    assert beats("training", 0)["at"] == NOW
    assert beats("training", 0.9)["at"] == NOW
    assert beats("training", 1.1)["at"] == NOW + 1.1
    assert beats("evaluating", 1.2) == {"phase": "evaluating", "at": NOW + 1.2, "fresh_for_secs": 120}


def test_a_phase_that_nobody_knows_is_a_defect(beats):
    with pytest.raises(KeyError):
        beats("dreaming", 0)
