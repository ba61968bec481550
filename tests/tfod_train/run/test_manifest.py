"""run.json says what a run was made of, and `entrypoint.py diff` what tells two apart."""

import json
import os
import subprocess
import sys

import pytest

from tfod_train import __version__
from tfod_train.commands import diff
from tfod_train.run import manifest
from tfod_train.run.run_dir import RunDir


@pytest.fixture
def start(a_run, project_dir):
    """function(folder, batch_size, **settings): run.json as a training writes it at its start."""
    from tfod_train.config import pipeline

    config_path = os.path.join(project_dir, "configs", "ssd_mobilenet_v1_mini_pets.config")

    def write(folder, batch_size=16, start_step=0, **settings):
        folder.mkdir(exist_ok=True)
        config = pipeline.parse(config_path)
        config.train_config.batch_size = batch_size
        manifest.start(a_run(folder, config, start_step, **settings))
        return json.loads((folder / "run.json").read_text())

    return write


def test_the_manifest_holds_what_repeats_the_run(start, tmp_path):
    written = start(tmp_path / "run", 8, SEED="3")
    assert written["settings"]["seed"] == 3
    assert "  batch_size: 8" in written["config"]
    assert written["devices"] == {"kind": "cpu", "count": 2, "used": ["/cpu:0", "/cpu:1"], "driver": None, "gpus": []}
    assert written["api"]["commit"] == "170c71cc555d458d2c85775bca92f802238e4dab"
    assert "saver_under_strategy" in written["api"]["patches"] and written["api"]["changed_files"] == []
    assert written["version"] == __version__
    assert written["versions"]["numpy"] and written["versions"]["python"] == sys.version.split()[0]
    assert (written["outcome"], written["start_step"]) == ("running", 0)


def test_the_image_is_told_by_its_id_where_that_is_known(start, tmp_path):
    image = "sha256:" + 64 * "a"
    assert start(tmp_path / "run", TFOD_IMAGE_ID=image)["image_id"] == image
    assert start(tmp_path / "other")["image_id"] is None


def test_the_manifest_says_how_a_run_ended(start, tmp_path):
    start(tmp_path / "run")
    manifest.finish(RunDir(str(tmp_path / "run")), "stopped", 7, 143)
    ended = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (ended["outcome"], ended["step"], ended["exit_code"]) == ("stopped", 7, 143)
    assert ended["started"] <= ended["ended"]


def test_a_run_that_is_gone_on_with_keeps_how_it_was_started_and_ended_before(start, tmp_path):
    start(tmp_path / "run")
    manifest.finish(RunDir(str(tmp_path / "run")), "stopped", 7, 143)
    start(tmp_path / "run", start_step=7)
    again = start(tmp_path / "run", start_step=7)
    assert [(one["start_step"], one.get("step"), one["outcome"]) for one in again["earlier"]] == [
        (0, 7, "stopped"),
        (7, None, "running"),
    ]


def test_an_image_tells_what_it_was_built_from(tmp_path, monkeypatch):
    (tmp_path / manifest.BUILD).write_text('{"commit": "abc"}')
    monkeypatch.setattr(manifest, "PROJECT_DIR", str(tmp_path))
    assert manifest.code() == {"commit": "abc"}


def test_code_outside_of_git_and_of_an_image_is_not_guessed(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "PROJECT_DIR", str(tmp_path))
    assert manifest.code() is None


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, "entrypoint.py", "diff"] + [str(one) for one in arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        cwd=manifest.PROJECT_DIR,
        env=dict(os.environ, COLUMNS="200"),
    )
    return done.returncode, done.stdout


def test_two_runs_of_the_same_making_do_not_differ(start, tmp_path):
    start(tmp_path / "one", RUN_DIR="one")
    start(tmp_path / "other", RUN_DIR="other")
    manifest.finish(RunDir(str(tmp_path / "one")), "finished", 10, 0)
    manifest.finish(RunDir(str(tmp_path / "other")), "finished", 10, 0)
    assert compare(tmp_path / "one", tmp_path / "other") == (0, "The two runs are of the same making.\n")
    code, shown = compare("--all", "--exit-code", tmp_path / "one", tmp_path / "other")
    assert code == 1 and "settings.run_dir" in shown


def test_every_difference_is_named_with_both_values(start, tmp_path):
    start(tmp_path / "one", 16, SEED="3")
    start(tmp_path / "other", 8, TRAINER="clone")
    code, shown = compare("--exit-code", tmp_path / "one", tmp_path / "other" / "run.json")
    rows = [line.split() for line in shown.splitlines()]
    assert code == 1
    assert [
        row for row in rows if row and row[0] in ("settings.seed", "settings.trainer", "config.train_config.batch_size")
    ] == [
        ["config.train_config.batch_size", "16", "8"],
        ["settings.seed", "3", "None"],
        ["settings.trainer", "mirrored", "clone"],
    ]


def test_a_shard_of_other_content_is_a_difference():
    def of(sha256):
        return {"dataset": {"shards": {"train": [{"file": "a", "sha256": sha256}]}}}

    assert diff.differences(of("1"), of("2")) == [("dataset.shards.train.a.sha256", "1", "2")]
    assert diff.differences(of("1"), of("1")) == []


@pytest.mark.usefixtures("protos")
def test_fields_of_repeated_messages_are_told_apart():
    def of(*steps):
        schedule = " ".join(f"schedule {{ step: {step} }}" for step in steps)
        rate = f"learning_rate {{ manual_step_learning_rate {{ {schedule} }} }}"
        return {"config": ["train_config {", f"  optimizer {{ adam_optimizer {{ {rate} }} }}", "}"]}

    found = diff.differences(of(1, 2), of(1, 3, 4))
    assert [(name.rpartition("rate.")[2], one, other) for name, one, other in found] == [
        ("schedule[1].step", "2", "3"),
        ("schedule[2].step", diff.ABSENT, "4"),
    ]
    assert all(name.startswith("config.train_config.optimizer.adam_optimizer.learning_rate.") for name, _, _ in found)


def test_a_run_that_is_not_named_is_asked_for():
    code, shown = compare("", "runs/other")
    assert code == 2 and "one is not named" in shown and "make diff RUN_A=" in shown


@pytest.mark.parametrize(
    "content, words",
    [(None, "is not there or is no run.json"), ("[1]", "is no run.json"), ("{", "is damaged: it is not valid JSON")],
)
def test_what_is_no_manifest_is_refused_with_what_to_name(content, words, tmp_path):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    code, shown = compare("--exit-code", tmp_path, tmp_path)
    assert code == 2 and words in shown and "Name two folders of runs" in shown and "Traceback" not in shown


def test_the_manifest_names_driver_data_code_and_config_file(start, dataset, tmp_path, monkeypatch):
    gpu = manifest.gpus.Gpu("GPU-0", "Tesla V100", (7, 0))
    monkeypatch.setattr(manifest.gpus, "look", lambda: manifest.gpus.Host((gpu,), driver="470.57"))
    monkeypatch.setattr(manifest, "code", lambda: {"commit": "0123abc", "changed": []})
    shard = {"name": "pet_faces_train.record-00000-of-00001", "bytes": 3, "examples": 1, "sha256": "ab" * 32}
    dataset.description["splits"]["train"]["shards"].append(shard)
    written = start(tmp_path / "run")
    assert (written["devices"]["driver"], written["devices"]["gpus"]) == ("470.57", ["Tesla V100"])
    assert written["dataset"]["shards"] == {"train": [shard], "val": []}
    assert written["dataset"]["classes"] == list(dataset.classes)
    assert written["code"] == {"commit": "0123abc", "changed": []}
    assert written["config_file"].endswith("configs/ssd_mobilenet_v1_mini_pets.config")
    assert written["config_changes"] == ["batch_size: 16 -> 8"]
