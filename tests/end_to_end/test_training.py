"""Both trainers, run as people run them, on two virtual CPU devices. Runs are shared: each costs most of a minute."""

import glob
import json
import os
import re
import signal
import subprocess

import pytest

pytestmark = pytest.mark.training

# What a warning, a traceback or TensorFlow's own log looks like; none of it belongs on the console of a good run.
NOISE = re.compile(r"warn|traceback|deprecat|error|INFO:|^[IWEF]\d{4} ", re.IGNORECASE)
DEPRECATED = "is deprecated and will be removed in a future version"


@pytest.fixture(scope="session")
def mirrored(run, tmp_path_factory):
    """Six steps of the mirrored trainer, the last checkpoint evaluated."""
    return run(
        "train",
        str(tmp_path_factory.mktemp("runs") / "shared"),
        NUM_STEPS="6",
        CHECKPOINT_EVERY_STEPS="2",
        KEEP_CHECKPOINTS="2",
    )


@pytest.fixture(scope="session")
def resumed(run, mirrored):
    """The same run resumed by the clone trainer, to step 9."""
    return run(
        "train",
        mirrored.folder,
        TRAINER="clone",
        NUM_STEPS="9",
        CHECKPOINT_EVERY_STEPS="1",
        KEEP_CHECKPOINTS="2",
        EVAL_AT_END="0",
    ), mirrored


def devices_of(run, step):
    """Device names in the graph saved beside a checkpoint."""
    import tensorflow.compat.v1 as tf

    meta_graph = tf.MetaGraphDef()
    with open(os.path.join(run.folder, f"model.ckpt-{step}.meta"), "rb") as source:
        meta_graph.ParseFromString(source.read())
    return {node.device for node in meta_graph.graph_def.node}


def variables_of(run, step):
    import tensorflow.compat.v1 as tf

    return {name for name, _ in tf.train.list_variables(os.path.join(run.folder, f"model.ckpt-{step}"))}


def test_a_mirrored_run_ends_well_and_without_noise(mirrored):
    assert mirrored.code == 0, mirrored.console
    assert [line for line in mirrored.lines if NOISE.search(line)] == []


def test_what_tensorflow_says_of_its_future_is_in_the_logs_alone(resumed):
    clone, mirrored = resumed
    with open(os.path.join(mirrored.folder, "train.log"), errors="replace") as log:
        of_each = re.split(r"^---- .*, process \d+ ----$", log.read(), flags=re.MULTILINE)[1:3]
    with open(os.path.join(mirrored.folder, "eval", "eval.log"), errors="replace") as log:
        of_each.append(log.read())
    assert [DEPRECATED in text for text in of_each] == [True] * 3
    assert DEPRECATED not in mirrored.console + clone.console


def test_the_first_lines_say_what_will_happen_and_the_last_where_the_results_are(mirrored):
    assert mirrored.lines[0].startswith("Training ssd_mobilenet_v1 on mini-pets (135 images, 3 classes")
    assert "2 virtual CPU devices, no GPU; batch 8 = 2 devices x 4; learning rate 0.004" in mirrored.lines[1]
    assert mirrored.lines[-1] == f"Results are in {mirrored.folder}."


def test_checkpoints_come_at_the_interval_and_only_the_newest_are_kept(mirrored, resumed):
    assert resumed[0].code == 0, resumed[0].console
    assert resumed[0].checkpoints == [8, 9]
    assert f"saved {os.path.join(mirrored.folder, 'model.ckpt-6')}" in mirrored.console


def test_every_validation_image_is_evaluated_once_and_drawn(mirrored):
    evaluations = mirrored.metrics()["evaluations"]
    assert evaluations[0]["step"] == 6
    assert (evaluations[0]["images"], evaluations[0]["images_expected"]) == (59, 59)
    assert evaluations[0]["weights"] == "moving-average"
    with open(os.path.join(mirrored.folder, "eval", "detections.png"), "rb") as drawing:
        assert drawing.read(8) == b"\x89PNG\r\n\x1a\n"


def test_the_run_tells_its_story(mirrored):
    with open(os.path.join(mirrored.folder, "metrics.jsonl")) as source:
        lines = {line["step"]: line for line in map(json.loads, source)}
    assert min(lines) == 1
    assert lines[6]["images_per_sec"] > 0
    assert 0 <= lines[6]["input_wait_secs"] <= 8 / lines[6]["images_per_sec"]
    assert 0 < lines[1]["learning_rate"] <= 0.004
    parts = lines[6]["losses"]
    assert set(parts) == {"Loss/classification_loss", "Loss/localization_loss", "regularization_loss"}
    assert sum(parts.values()) == pytest.approx(lines[6]["loss"], rel=1e-4)
    with open(os.path.join(mirrored.folder, "report.html"), encoding="utf-8") as page:
        text = page.read()
    assert "Finished" in text and 'aria-label="Accuracy"' in text and "data:image/png;base64," in text
    assert mirrored.manifest()["config_changes"][0] == "batch_size: 16 -> 8 (BATCH_SIZE)"


def test_tensorboard_has_the_same_scalars_for_both_trainers(resumed):
    import tensorflow.compat.v1 as tf

    tags = {"mirrored": set(), "clone": set()}
    for path in glob.glob(os.path.join(resumed[0].folder, "events.*")):
        for event in tf.train.summary_iterator(path):
            tags["mirrored" if event.step <= 6 else "clone"] |= {
                value.tag for value in event.summary.value if value.HasField("simple_value")
            }
    # Three steps of the clone trainer are too few for a speed.
    assert {"images_per_sec", "input_wait_secs"} <= tags["mirrored"]
    of_its_queues = {tag for tag in tags["clone"] if tag.startswith(("batch/", "queue/"))}
    assert len(of_its_queues) == 2
    assert tags["clone"] - of_its_queues == tags["mirrored"] - {"images_per_sec", "input_wait_secs"}
    assert {"Losses/TotalLoss", "LearningRate/LearningRate/learning_rate"} <= tags["clone"]


def test_both_trainers_put_work_on_both_devices(resumed):
    clones = devices_of(resumed[0], 9)
    assert {"/device:CPU:0", "/device:CPU:1"} <= {
        re.sub(r"^/job:[^/]*|/replica:\d+|/task:\d+", "", name) for name in clones
    }


def test_a_run_resumes_with_the_other_trainer(resumed):
    clone, _ = resumed
    assert clone.code == 0, clone.console
    assert "Resuming from step 6 to 9." in clone.lines
    assert "with the clone trainer" in clone.lines[0]
    assert clone.manifest()["outcome"] == "finished" and clone.manifest()["step"] == 9
    averaged = [name for name in variables_of(clone, 9) if name.endswith("/ExponentialMovingAverage")]
    assert len(averaged) > 50
    assert [line for line in clone.lines if NOISE.search(line)] == []


def test_a_finished_run_takes_no_further_step(run, resumed):
    again = run("train", resumed[0].folder, TRAINER="clone", NUM_STEPS="9", EVAL_AT_END="0")
    assert again.code == 0
    assert any("This run is finished" in line for line in again.lines)
    assert again.checkpoints == [8, 9]


def test_evaluation_takes_every_checkpoint_that_is_there_and_each_once(run, resumed):
    first = run("eval", resumed[0].folder)
    assert first.code == 0, first.console
    assert "Evaluated 59 of 59 images" in first.console
    second = run("eval", resumed[0].folder, EVAL_MODE="once")
    assert (second.code, "Step 9 was evaluated before." in second.lines) == (0, True)
    assert [entry["step"] for entry in second.metrics()["evaluations"]] == [6, 8, 9]


def test_a_run_of_another_model_is_refused_and_left_alone(run, resumed, tmp_path):
    with open("configs/ssd_mobilenet_v1_mini_pets.config") as source:
        (tmp_path / "other.config").write_text(source.read().replace("depth_multiplier: 0.25", "depth_multiplier: 0.5"))
    refused = run("train", resumed[0].folder, PIPELINE_CONFIG=str(tmp_path / "other.config"), NUM_STEPS="20")
    assert refused.code == 2
    assert "depth_multiplier (0.25, now 0.5)" in refused.console
    assert resumed[0].checkpoints == [8, 9]


def test_sigterm_saves_and_exits_143(tiny_command, ended, tmp_path):
    argv, arguments = tiny_command("train", tmp_path / "run", TRAINER="clone", NUM_STEPS="100000")
    with subprocess.Popen(argv, **arguments) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("First step"):
                process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    stopped = ended(process.returncode, "".join(lines), str(tmp_path / "run"))
    assert stopped.code == 143, stopped.console
    assert len(stopped.checkpoints) == 1
    assert stopped.manifest()["outcome"] == "stopped"
    assert stopped.manifest()["step"] == stopped.checkpoints[0] >= 1


@pytest.mark.parametrize(
    "trainer", [pytest.param("mirrored", marks=pytest.mark.long), pytest.param("clone", marks=pytest.mark.nightly)]
)
def test_mini_pets_is_learned(trainer, run, tmp_path):
    """The README's first command, in full, and the quality it promises."""
    learned = run("train", str(tmp_path / "run"), TRAINER=trainer, BATCH_SIZE="")
    assert learned.code == 0, learned.console
    metrics = learned.metrics()["evaluations"][-1]["metrics"]
    assert metrics["DetectionBoxes_Precision/mAP@.50IOU"] >= 0.70
    assert [line for line in learned.lines if NOISE.search(line)] == []
