"""Watchdog and health file hear of each step."""

import json

from tfod_train.observers.heartbeat import Heartbeat


def test_each_step_is_a_beat_and_the_phase_is_training(training, step, tmp_path):
    beats = []
    observer = Heartbeat(training._replace(beat=lambda: beats.append(True)))
    assert observer.on_step(step(1)) is None
    observer.on_step(step(2))
    assert beats == [True, True]
    assert json.loads((tmp_path / "health.json").read_text())["phase"] == "training"
