"""A run made before version 2.0.0 (earlier_run/, without its checkpoint) is read, shown, compared and resumed."""

import json
import os
import shutil

import pytest

from common.project import PROJECT_DIR
from tfod_train.run import evaluations
from tfod_train.run.run_dir import RunDir

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def earlier(tmp_path):
    folder = str(tmp_path / "earlier")
    shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "earlier_run"), folder)
    return RunDir(folder)


def test_it_is_resumed_from_its_checkpoint_and_may_be_given_its_own_config(earlier, write_checkpoint, read_settings):
    from tfod_train.config import pipeline

    write_checkpoint(earlier.file("model.ckpt-4"))
    config = pipeline.parse(os.path.join(PROJECT_DIR, "configs", "ssd_mobilenet_v1_mini_pets.config"))
    assert earlier.check(config, read_settings()) == 4
    earlier.check_config_file(earlier.config)
    assert earlier.prepare(config, read_settings()) == 4


def test_what_was_evaluated_is_known(earlier):
    with open(earlier.evaluations.metrics) as file:
        metrics = json.load(file)
    entry = evaluations.best(metrics)
    assert entry["step"] == metrics["best_step"] == 4
    assert evaluations.done(metrics, 4, entry["checkpoint"]) is entry
    assert all(entry.get(key) for key, _, _ in evaluations.PER_CLASS[:3])


def test_its_page_is_written_anew(earlier):
    from tfod_train.report import page

    with open(page.write(earlier.path), encoding="utf-8") as file:
        text = file.read()
    assert "ssd_mobilenet_v1 on mini-pets, with the mirrored trainer on 2 virtual CPU device" in text
    assert "Finished" in text and "<svg" in text


def test_it_is_compared_with_a_run_of_today(earlier):
    from tfod_train.commands import diff

    before = earlier.read_manifest()
    assert diff.differences(before, before) == []
    today = dict(before, version="2.0.0", settings=dict(before["settings"], plugins=None))
    assert [name for name, _, _ in diff.differences(before, today)] == ["settings.plugins", "version"]
