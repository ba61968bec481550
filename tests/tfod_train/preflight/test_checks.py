"""The look before a training: each line's level, what to do, and the exit code."""

import json
import os
import re

import pytest

from common.errors import Refused
from tfod_train.devices import gpus

pytestmark = pytest.mark.usefixtures("protos")

V100 = gpus.Gpu("GPU-0", "Tesla V100", (7, 0))
A100 = gpus.Gpu("GPU-1", "A100", (8, 0))


def line(report, check):
    (found,) = [one for one in report.lines if one.check == check]
    return found


def test_a_good_training_has_nothing_but_ok_and_leaves_nothing_behind(look, tmp_path):
    report = look()
    assert [(one.check, one.level) for one in report.lines] == [
        (check, "ok")
        for check in ("software", "devices", "shared memory", "records", "config", "boxes")
        + ("fine-tuning", "RUN_DIR", "disk")
    ]
    assert report.code == 0 and not (tmp_path / "run").exists()
    assert "num_classes is the label map's 3" in line(report, "config").text
    report.refuse()


def test_every_gpu_that_would_be_used_is_held_against_the_image_and_no_other(look, monkeypatch):
    missing = ["libcudnn.so.7"]
    monkeypatch.setattr(gpus, "missing_libraries", lambda cuda: missing)
    host = gpus.Host((V100, A100), driver="470.57", hardware=True, kernel_driver=True)
    report = look(host, DEVICE="gpu", NUM_GPUS="1", BATCH_SIZE="16")
    assert line(report, "GPU generation").level == "ok"
    assert line(report, "CUDA libraries").text == "CUDA's libraries are not found: libcudnn.so.7."
    both = look(host, DEVICE="gpu", BATCH_SIZE="16")
    assert [one.level for one in both.lines if one.check == "GPU generation"] == ["ok", "error"]
    assert both.code == 3
    with pytest.raises(Refused) as refused:
        both.refuse()
    assert refused.value.what.startswith("2 things stand in the way:\n  A100 (compute capability 8.0) is too new")


def test_a_missing_gpu_and_a_wrong_config_are_told_together_and_the_rest_is_still_looked_at(look, tmp_path):
    config = tmp_path / "wrong.config"
    config.write_text("model {\n ssd {\n  num_clases: 3 } }")
    report = look(DEVICE="gpu", PIPELINE_CONFIG=str(config))
    assert [one.check for one in report.errors] == ["devices", "config"]
    assert "no GPU is visible: this machine has no NVIDIA GPU." in line(report, "devices").text
    assert 'line 3, column 3: Message type "object_detection.protos.Ssd" has no field named "num_clases".' in (
        line(report, "config").text
    )
    assert "Did you mean num_classes?" in line(report, "config").do
    assert line(report, "records").level == "ok" and report.code == 3


def test_the_built_in_dataset_may_be_missing_because_training_draws_it(look, tmp_path):
    report = look(DATASET="", DATA_DIR=str(tmp_path / "nothing"))
    assert line(report, "records").text == "mini-pets is not there yet; training draws it first."
    assert report.code == 0


def test_a_model_that_does_not_suit_the_boxes_is_a_warning_with_the_figures(look, mini, tmp_path, project_dir):
    with open(os.path.join(project_dir, "configs", "ssd_mobilenet_v1_mini_pets.config"), encoding="utf-8") as file:
        text = file.read()
    for field, value in (("min_scale", 0.01), ("max_scale", 0.02), ("max_total_detections", 1)):
        text, count = re.subn(rf"\b{field}: [\d.]+", f"{field}: {value}", text)
        assert count == 1
    (tmp_path / "other.config").write_text(text, encoding="utf-8")
    with open(mini / "dataset.json", encoding="utf-8") as file:
        most = json.load(file)["most_boxes"]
    report = look(PIPELINE_CONFIG=str(tmp_path / "other.config"))
    many, unfit = [one for one in report.lines if one.check == "boxes"]
    assert many.level == unfit.level == "warning" and report.code == 0
    assert f"An image has {most} boxes, and max_total_detections is 1" in many.text
    assert "class pug: 0% of its boxes have an anchor of IoU 0.5 or more (0 of " in unfit.text
    assert f"python -m data_prep check {mini} --config FILE" in unfit.do


def test_settings_alone_are_exit_code_2(look):
    assert look(BATCH_SIZE="9").code == 2


def test_a_checkpoint_of_the_model_zoo_is_left_for_the_training_to_fetch(look, tmp_path):
    report = look(FINE_TUNE_CHECKPOINT="ssd_mobilenet_v1_coco", DATA_DIR=str(tmp_path))
    assert line(report, "fine-tuning").level == "ok"
    assert line(report, "fine-tuning").text == (
        "ssd_mobilenet_v1_coco_2018_01_28 of the model zoo is not there yet; training downloads it first (76 MB)."
    )
    assert not (tmp_path / "zoo").exists()


def test_a_torn_fine_tune_checkpoint_is_refused_before_tensorflow_starts(look, tmp_path, write_checkpoint):
    write_checkpoint(str(tmp_path / "zoo"))
    whole = look(FINE_TUNE_CHECKPOINT=str(tmp_path / "zoo"))
    assert (line(whole, "fine-tuning").level, "1 variables" in line(whole, "fine-tuning").text) == ("ok", True)
    with open(str(tmp_path / "zoo.data-00000-of-00001"), "r+b") as data:
        data.truncate(3)
    torn = line(look(FINE_TUNE_CHECKPOINT=str(tmp_path / "zoo")), "fine-tuning")
    assert (torn.level, torn.code) == ("error", 2)
    assert "zoo.data-00000-of-00001 has 3 of 16 bytes" in torn.text


@pytest.mark.parametrize("folder", ["", "best"])
def test_a_run_does_not_begin_from_its_own_checkpoints(folder, look, tmp_path, write_checkpoint):
    run = tmp_path / "run"
    (run / folder).mkdir(parents=True, exist_ok=True)
    checkpoint = str(run / folder / "model.ckpt-3")
    write_checkpoint(checkpoint)
    refused = line(look(FINE_TUNE_CHECKPOINT=checkpoint), "fine-tuning")
    assert (refused.level, refused.code) == ("error", 2)
    assert refused.text.startswith(f"fine_tune_checkpoint {checkpoint} is of RUN_DIR={run} itself: to resume")
    assert refused.do == ("To resume it leave FINE_TUNE_CHECKPOINT out; for a new run set RUN_DIR to another folder.")
    other = look(FINE_TUNE_CHECKPOINT=checkpoint, RUN_DIR=str(tmp_path / "other"))
    assert line(other, "fine-tuning").level == "ok"


@pytest.mark.parametrize(
    "size, several, level", [(64 * 2**20, True, "warning"), (64 * 2**20, False, "ok"), (2**31, True, "ok")]
)
def test_little_shared_memory_matters_to_several_gpus(size, several, level):
    from tfod_train.preflight import checks

    assert checks.shared_memory(size, several).level == level


@pytest.mark.parametrize(
    "limit, several, level", [(65536, True, "warning"), (65536, False, "ok"), (8388608, True, "ok"), (-1, True, "ok")]
)
def test_little_locked_memory_matters_to_several_gpus(limit, several, level):
    from tfod_train.preflight import checks

    assert checks.locked_memory(limit, several).level == level


@pytest.mark.parametrize("free, level", [(2**40, "ok"), (2**20, "warning")])
def test_free_space_is_held_against_the_checkpoints_that_will_be_kept(free, level, look, monkeypatch):
    from tfod_train.preflight import checks

    monkeypatch.setattr(checks.RunDir, "free_bytes", lambda self: free)
    found = line(look(KEEP_CHECKPOINTS="3"), "disk")
    assert found.level == level
    assert "4 more checkpoints of" in found.text and "estimated from a ssd_mobilenet_v1" in found.text


def test_what_several_gpus_need_of_machine_and_driver_is_looked_at(look, monkeypatch):
    from tfod_train.preflight import checks

    used, total = checks.shutil.disk_usage, checks.shutil.disk_usage("/")._replace(total=64 * 2**20)
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda path: total if path == "/dev/shm" else used(path))
    monkeypatch.setattr(checks.resource, "getrlimit", lambda which: (65536, 65536))
    monkeypatch.setattr(gpus, "missing_libraries", lambda cuda: [])
    host = gpus.Host((V100, V100._replace(uuid="GPU-2")), driver="384.81", hardware=True, in_container=True)
    report = look(host, DEVICE="gpu", BATCH_SIZE="16")
    assert [(one.check, one.level) for one in report.lines if one.level != "ok"] == [
        ("driver", "error"),
        ("shared memory", "warning"),
        ("locked memory", "warning"),
    ]
    assert line(report, "driver").text == "The NVIDIA driver 384.81 is too old for CUDA 10.0."
    one_gpu = look(host._replace(driver="410.48"), DEVICE="gpu", NUM_GPUS="1", BATCH_SIZE="16")
    assert (one_gpu.errors, one_gpu.warnings) == ([], [])


def test_a_driver_that_nvidias_packages_may_bridge_is_a_warning(look, monkeypatch):
    monkeypatch.setattr(gpus, "missing_libraries", lambda cuda: [])
    monkeypatch.setattr(gpus, "cuda_of_tensorflow", lambda: (12, 1))

    def driver(version):
        host = gpus.Host((A100,), driver=version, hardware=True, kernel_driver=True)
        return line(look(host, DEVICE="gpu", BATCH_SIZE="16"), "driver")

    assert [driver(version).level for version in ("530.30", "525.85", "450.51", "440.33")] == [
        "ok",
        "warning",
        "warning",
        "error",
    ]
    assert "data-centre GPU" in driver("525.85").do


@pytest.fixture
def run_of_step(look, tmp_path, write_checkpoint):
    """RUN_DIR with the checkpoint of step 7 (pathlib.Path)."""
    from tfod_train.run import run_dir

    folder = tmp_path / "run"
    folder.mkdir()
    run_dir.RunDir(str(folder)).write_config(look().plan.config)
    (folder / run_dir.MANIFEST).write_text('{"settings": {}}')
    write_checkpoint(str(folder / "model.ckpt-7"))
    return folder


def test_a_run_to_resume_is_looked_at(look, run_of_step, write_checkpoint, monkeypatch):
    from tfod_train.preflight import checks

    assert line(look(), "RUN_DIR").text == f"{run_of_step}: resumes from step 7."
    # What a checkpoint takes is known here, so that too little space is no guess.
    monkeypatch.setattr(checks.RunDir, "free_bytes", lambda self: 2**20)
    assert (line(look(), "disk").level, look().code) == ("error", 3)
    write_checkpoint(str(run_of_step / "model.ckpt-9"))
    (run_of_step / "model.ckpt-9.data-00000-of-00001").write_bytes(b"")
    torn = line(look(), "RUN_DIR")
    assert (torn.level, torn.do) == ("warning", "Training resumes from step 7.")
    assert "model.ckpt-9.data-00000-of-00001 has 0 of 16 bytes" in torn.text


def test_a_run_dir_in_use_or_of_others_is_refused(look, run_of_step, monkeypatch):
    from tfod_train.run import run_dir

    with open(str(run_of_step / ".lock"), "w") as lock:
        run_dir.fcntl.flock(lock, run_dir.fcntl.LOCK_EX)
        used = line(look(), "RUN_DIR")
    assert (used.level, used.code) == ("error", 3) and used.text.startswith("Another training is running in")
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(run_of_step) and allowed(path, mode))
    not_ours = line(look(), "RUN_DIR")
    assert (not_ours.level, not_ours.text) == ("error", f"RUN_DIR={run_of_step} cannot be written.")
