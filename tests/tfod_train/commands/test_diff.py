"""`entrypoint.py diff` says what tells two runs apart."""

import os
import subprocess
import sys

import pytest

from common.project import PROJECT_DIR
from tfod_train.commands import diff
from tfod_train.run import manifest
from tfod_train.run.run_dir import RunDir


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, "entrypoint.py", "diff"] + [str(one) for one in arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        cwd=PROJECT_DIR,
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
    assert compare(tmp_path / "one", tmp_path / "other") == (0, shown)
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
