"""compose.yaml passes on every setting and opens nothing to the network."""

import os
import re

from tfod_train import settings

# Their values mean nothing in a container: data is mounted there, and GPUs have other numbers.
CHOSEN_OUTSIDE = {"DATA_DIR", "CUDA_VISIBLE_DEVICES"}


def known_settings():
    return (set(settings.names()) | set(settings.NOT_SUPPORTED)) - CHOSEN_OUTSIDE


def passed_on(service):
    """Names without a value: as they are outside, and unset where they are unset."""
    return {name for name, value in service["environment"].items() if value is None}


def test_training_gets_every_setting(compose):
    assert passed_on(compose["services"]["train"]) == known_settings()


def test_evaluation_gets_every_setting_but_the_device_that_eval_gpus_decides(compose):
    assert passed_on(compose["services"]["eval"]) == known_settings() - {"DEVICE"}


def test_what_is_chosen_outside_reaches_the_containers_another_way(compose):
    services = compose["services"]
    assert "${DATA_DIR:-./data}:/data" in services["train"]["volumes"]
    gpus = {name: services[name]["environment"]["NVIDIA_VISIBLE_DEVICES"] for name in ("train", "eval")}
    assert gpus == {
        "train": "${TRAIN_GPUS:-${CUDA_VISIBLE_DEVICES:-all}}",
        "eval": "${EVAL_GPUS:-${CUDA_VISIBLE_DEVICES:-none}}",
    }


def test_preflight_looks_at_what_training_would_get(compose):
    train, preflight = (compose["services"][name] for name in ("train", "preflight"))
    for key in ("environment", "runtime", "volumes", "shm_size", "ulimits"):
        assert preflight[key] == train[key]
    assert preflight["profiles"] == ["tools"]  # `docker compose up` alone does not start it


def test_only_what_uses_gpus_needs_the_nvidia_runtime(compose):
    with_runtime = {name for name, service in compose["services"].items() if "runtime" in service}
    assert with_runtime == {"train", "eval", "preflight"}


def test_tensorboard_is_open_to_this_machine_only(compose):
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:6006:6006"]


def test_every_service_gives_up_what_it_does_not_need(compose):
    for name, service in compose["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert set(service["cap_add"]) == {"SETUID", "SETGID", "KILL"}, name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["user"] == "${UID:-0}:${GID:-0}", name
        assert service["init"] is True, name


def test_compose_and_the_dockerfile_agree_on_the_base_image(compose, root):
    with open(os.path.join(root, "docker", "Dockerfile")) as file:
        default = re.search(r"^ARG BASE_IMAGE=(\S+)$", file.read(), re.MULTILINE).group(1)
    assert compose["x-build"]["build"]["args"]["BASE_IMAGE"] == f"${{BASE_IMAGE:-{default}}}"


def test_the_image_can_be_told_the_commit_and_the_version_it_is_built_from(compose):
    args = compose["x-build"]["build"]["args"]
    assert (args["CODE_COMMIT"], args["CODE_VERSION"]) == ("${CODE_COMMIT:-}", "${CODE_VERSION:-}")
