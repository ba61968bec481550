"""`docker compose` in a clone: data, both trainers to the end, evaluation beside training, TensorBoard."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.image.containers import ROOT, USER, assert_clean, owners

pytestmark = pytest.mark.image

SAMPLE = os.path.join(ROOT, "..", "shared", "data", "pets-sample")


def assert_evaluated(clone, run_dir, step):
    with open(os.path.join(clone, run_dir, "eval", "metrics.json")) as file:
        assert f'"step": {step}' in json.dumps(json.load(file))
    assert os.path.getsize(os.path.join(clone, run_dir, "eval", "detections.png")) > 0
    assert owners(os.path.join(clone, "runs")) == {(USER, USER)}


def test_one_command_trains_and_evaluates(compose, clone):
    up = compose.call("up", "--no-log-prefix", "train", DEVICE="cpu", NUM_STEPS="15", RUN_DIR="runs/mirrored")
    train = compose.ended("train")
    assert train.code == 0, up.log
    assert_clean(train.log)
    assert train.lines[0].startswith("Training ssd_mobilenet_v1 on mini-pets")
    assert train.lines[-1] == "Results are in runs/mirrored."
    assert compose.ended("data").code == 0
    written = {change["Path"] for change in compose.container("train").diff() or []}
    # The last is Docker's own, on which it mounts the init that compose.yaml asks for.
    written -= {"/usr", "/usr/sbin", "/usr/sbin/docker-init"}
    assert [path for path in written if not path.startswith(("/tmp", "/runs", "/data"))] == []
    assert_evaluated(clone, "runs/mirrored", 15)
    page = os.path.join(clone, "runs/mirrored/report.html")
    os.remove(page)
    told = compose.call("run", "--rm", "report", RUN_DIR="runs/mirrored")
    assert told.code == 0 and os.path.getsize(page) > 10000, told.log
    exported = compose.call("run", "--rm", "export", RUN_DIR="runs/mirrored")
    assert exported.code == 0, exported.log
    assert os.path.exists(os.path.join(clone, "runs/mirrored/export/15/frozen_inference_graph.pb"))
    # make_clone copied this image with the rest of docs/.
    found = compose.call(
        "run",
        "--rm",
        "--volume",
        "./docs:/images:ro",
        "detect",
        "--model",
        "/runs/mirrored/export/15",
        "--out",
        "/runs/detections",
        "--min-score",
        "0",
        "/images/mini-pets-detections.png",
    )
    assert found.code == 0, found.log
    assert os.path.getsize(os.path.join(clone, "runs/detections/mini-pets-detections.png")) > 0


def test_the_data_that_the_image_makes_is_what_this_python_makes_byte_for_byte(compose, clone, tmp_path):
    """Which is another: 3.6 in the image."""
    done = compose.call("run", "--rm", "data", "mini-pets")
    assert done.code == 0, done.log
    here = str(tmp_path / "here")
    subprocess.check_call([sys.executable, "-m", "data_prep", "mini-pets", "--out", here], cwd=ROOT)
    made = []
    for folder in (os.path.join(clone, "data", "mini-pets"), here):
        with open(os.path.join(folder, "dataset.json")) as file:
            dataset = json.load(file)
        made.append(
            {shard["file"]: shard["sha256"] for split in dataset["splits"].values() for shard in split["shards"]}
        )
    assert len(made[0]) == 20 and made[0] == made[1]


def test_preflight_answers_without_training(compose, clone):
    done = compose.call("run", "--rm", "preflight", DEVICE="cpu", RUN_DIR="runs/never")
    assert done.code == 0 and "Training can start" in done.log
    assert not os.path.exists(os.path.join(clone, "runs/never"))


def test_the_clone_trainer_trains_while_another_container_evaluates(compose, clone):
    compose.call(
        "up",
        "--detach",
        "train",
        "eval",
        TRAINER="clone",
        DEVICE="cpu",
        NUM_STEPS="15",
        RUN_DIR="runs/clone",
        EVAL_AT_END="0",
        EVAL_MODE="until_step",
    )
    health = set()
    while compose.container("train").status == "running":
        health.add(compose.container("train").attrs["State"]["Health"]["Status"])
        time.sleep(2)
    train, evaluation = compose.ended("train"), compose.ended("eval")
    assert (train.code, evaluation.code) == (0, 0), train.log + evaluation.log
    assert_clean(train.log + evaluation.log)
    assert "healthy" in health and "unhealthy" not in health
    assert "on the CPU" in evaluation.lines[0]
    assert_evaluated(clone, "runs/clone", 15)


@pytest.mark.parametrize("command", ["stop", "down"])
def test_stopping_saves_a_checkpoint_first(command, compose, clone):
    # Not watched: signals have to find their way as they do for everybody.
    compose.call(
        "up",
        "--detach",
        "train",
        watched=False,
        DEVICE="cpu",
        NUM_GPUS="1",
        NUM_STEPS="100000",
        RUN_DIR="runs/" + command,
    )
    container = compose.container("train")
    while b"First step after" not in container.logs():
        container.reload()
        assert container.status == "running", container.logs().decode()
        time.sleep(1)
    compose.call(*["stop", "train"] if command == "stop" else ["down"])
    if command == "stop":
        train = compose.ended("train")
        assert train.code == 143
        assert_clean(train.log)
        assert any(line.startswith("Stopped at step") for line in train.lines)
    # `down` takes the container and its log away.
    with open(os.path.join(clone, "runs", command, "run.json")) as file:
        told = json.load(file)
    assert (told["outcome"], told["exit_code"]) == ("stopped", 143)
    with open(os.path.join(clone, "runs", command, "checkpoint")) as file:
        newest = file.read().split('"')[1]
    assert newest == f"model.ckpt-{told['step']}"
    assert os.path.exists(os.path.join(clone, "runs", command, newest + ".index"))


def test_tensorboard_answers(compose):
    # `run` leaves the port of this machine alone, which may be taken.
    compose.call("run", "--detach", "tensorboard")
    container = compose.container("tensorboard")
    ask = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:6006/data/environment').status)"
    for _ in range(60):
        answer = container.exec_run(["python", "-c", ask])
        if answer.exit_code == 0:
            break
        time.sleep(0.5)
    assert answer.output == b"200\n"
    assert_clean(container.logs().decode())


@pytest.mark.skipif(not os.path.isdir(SAMPLE), reason="the sample of real images is optional")
def test_real_images_of_the_host_are_converted(compose, clone):
    done = compose.call("run", "--rm", "data", "pets", PETS_DIR=os.path.realpath(SAMPLE))
    assert done.code == 0, done.log
    with open(os.path.join(clone, "data", "pets", "dataset.json")) as file:
        assert json.load(file)["num_classes"] == 37
    assert owners(os.path.join(clone, "data")) == {(USER, USER)}
