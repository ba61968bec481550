"""run.json says what a run was made of, and `entrypoint.py diff` what tells two apart."""

import json
import sys

from tfod_train import __version__
from tfod_train.run import manifest
from tfod_train.run.run_dir import RunDir


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


def test_the_manifest_keeps_the_ids_of_the_classes_where_the_label_map_says_them(start, dataset, tmp_path):
    assert start(tmp_path / "run")["dataset"]["class_ids"] is None
    items = [f"item {{ id: {number} name: '{name}' }}" for number, name in ((2, "pug"), (5, "Bengal"))]
    with open(dataset.label_map, "w") as label_map:
        label_map.write("\n".join(items))
    assert start(tmp_path / "run")["dataset"]["class_ids"] == {"Bengal": 5, "pug": 2}


def test_what_a_run_was_fine_tuned_from_stays_when_it_is_resumed(start, protos, tmp_path):
    folder = RunDir(str(tmp_path / "run"))
    written = start(tmp_path / "run")
    assert written["fine_tuning"] is None
    (tmp_path / "run" / "pipeline.config").write_text("\n".join(written["config"]))
    manifest.fine_tuned(folder, "detection", ["fine_tune_checkpoint_type: none -> detection"], {"restored": 3})
    changed = json.loads((tmp_path / "run" / "run.json").read_text())
    assert changed["config_changes"] == ["batch_size: 16 -> 8", "fine_tune_checkpoint_type: none -> detection"]
    assert changed["config"] == (tmp_path / "run" / "pipeline.config").read_text().splitlines()
    assert folder.read_config().train_config.fine_tune_checkpoint_type == "detection"
    assert start(tmp_path / "run", start_step=2)["fine_tuning"] == {"restored": 3}
    assert start(tmp_path / "run")["fine_tuning"] is None


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
