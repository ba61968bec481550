"""An ordinary user with no capability, a read-only root file system and no network is enough to train."""

import json

import pytest

from tests.image.containers import USER, owners

pytestmark = pytest.mark.image

LOCKED_DOWN = {
    "user": f"{USER}:{USER}",
    "read_only": True,
    "tmpfs": {"/tmp": "mode=1777"},
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "network_mode": "none",
}


def test_data_training_evaluation_and_export_write_nothing_but_runs_data_and_tmp(run, folders, tmp_path):
    volumes = folders(owner=USER)
    done = run(["data", "mini-pets"], volumes=volumes, **LOCKED_DOWN)
    assert done.code == 0, done.log
    settings = {"DEVICE": "cpu", "NUM_STEPS": "6", "RUN_DIR": "runs/small", "EVAL_AT_END": "1"}
    done = run(["train"], volumes=volumes, environment=settings, **LOCKED_DOWN)
    assert done.code == 0, done.log
    with open(str(tmp_path / "runs" / "small" / "eval" / "metrics.json")) as file:
        assert '"step": 6' in json.dumps(json.load(file))
    exported = run(["export"], volumes=volumes, environment=dict(settings, EVAL_AT_END=""), **LOCKED_DOWN)
    assert exported.code == 0, exported.log
    assert (tmp_path / "runs" / "small" / "export" / "6" / "frozen_inference_graph.pb").exists()
    assert owners(tmp_path) == {(USER, USER)}


@pytest.mark.parametrize("command", [["preflight"], ["--help"], ["data", "mini-pets"]])
def test_where_more_could_be_written_it_is_not(start, folders, command):
    container = start(command, volumes=folders(owner=USER), user=f"{USER}:{USER}", environment={"DEVICE": "cpu"})
    assert container.wait(timeout=120)["StatusCode"] == 0, container.logs().decode()
    changed = [change["Path"] for change in container.diff() or []]
    assert [path for path in changed if not path.startswith("/tmp")] == []
