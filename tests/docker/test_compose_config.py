"""What `docker compose config` makes of the files: needs the compose plugin, but no engine."""

import json
import os
import shutil
import subprocess

import pytest

from tests.docker import programs

FILES = {
    "runtime": ["compose.yaml"],
    "reservations": ["compose.yaml", "compose.gpu-reservations.yaml"],
    "cdi": ["compose.yaml", "compose.gpu-cdi.yaml"],
}


def compose_there():
    return (
        bool(shutil.which("docker"))
        and subprocess.call(["docker", "compose", "version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    )


pytestmark = pytest.mark.skipif(not compose_there(), reason="the docker compose plugin is optional")


@pytest.fixture
def config(root):
    """function(files, **environ) -> services as compose understands them; any word on stderr fails."""

    def ask(files, **environ):
        done = call(["docker", "compose"], files, root, environ)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)["services"]

    return ask


def call(compose, files, root, environ):
    """`config` of a compose program; the finished process."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = compose + ["--env-file", os.devnull]
    for name in FILES[files]:
        command += ["-f", name]
    return subprocess.run(
        command + ["--profile", "tools", "config", "--format", "json"],
        cwd=root,
        env=dict(kept, **environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def gpus_of(service):
    """NVIDIA_VISIBLE_DEVICES where the runtime reads it; else the device ids that are reserved."""
    if service.get("runtime") == "nvidia":
        return service["environment"]["NVIDIA_VISIBLE_DEVICES"]
    devices = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
    return ",".join(",".join(device["device_ids"]) for device in devices)


@pytest.mark.parametrize(
    "files, environ, train, evaluation",
    [
        ("runtime", {}, "all", "none"),
        ("runtime", {"TRAIN_GPUS": "0,1,2", "EVAL_GPUS": "3"}, "0,1,2", "3"),
        ("runtime", {"CUDA_VISIBLE_DEVICES": "1"}, "1", "1"),
        ("reservations", {}, "all", "none"),
        ("reservations", {"TRAIN_GPUS": "0,1,2", "EVAL_GPUS": "3"}, "0,1,2", "3"),
        ("cdi", {}, "nvidia.com/gpu=all", ""),
        ("cdi", {"TRAIN_GPUS": "1"}, "nvidia.com/gpu=1", ""),
    ],
)
def test_gpus_reach_training_and_evaluation(config, files, environ, train, evaluation):
    services = config(files, **environ)
    assert (gpus_of(services["train"]), gpus_of(services["eval"])) == (train, evaluation)
    assert gpus_of(services["preflight"]) == train


@pytest.mark.parametrize("files", ["reservations", "cdi"])
def test_no_runtime_named_nvidia_is_needed_where_gpus_are_reserved(config, files):
    assert {service.get("runtime", "runc") for service in config(files).values()} == {"runc"}


def test_every_service_is_read_only_when_told_and_writes_to_memory(config):
    services = config("runtime", READ_ONLY="true")
    assert {name for name, service in services.items() if service["read_only"] is not True} == set()
    assert all(service["tmpfs"] == ["/tmp:mode=1777"] for service in services.values())
    assert not any(service.get("read_only") for service in config("runtime").values())


def test_the_log_of_a_service_has_a_limit(config):
    for name, service in config("runtime").items():
        assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "3"}}, name


def test_what_waits_for_the_data_is_what_reads_it(config):
    conditions = {
        name: service["depends_on"]["data"]["condition"]
        for name, service in config("runtime").items()
        if "data" in service.get("depends_on", {})
    }
    assert conditions == dict.fromkeys(["train", "eval"], "service_completed_successfully")


def test_a_stopped_training_has_time_to_save(config):
    services = config("runtime")
    assert services["train"]["stop_grace_period"] == services["eval"]["stop_grace_period"] == "3m0s"
    assert services["train"]["init"] is True


def test_cuda_keeps_what_it_compiled(config, root):
    (cache,) = [volume for volume in config("runtime")["train"]["volumes"] if volume["type"] == "volume"]
    assert (cache["source"], cache["target"]) == ("cuda-cache", "/tmp/cuda-cache")
    with open(os.path.join(root, "docker", "Dockerfile")) as file:
        assert "CUDA_CACHE_PATH=/tmp/cuda-cache " in file.read()


@pytest.mark.long
@pytest.mark.parametrize("files", sorted(FILES))
def test_compose_2_20_understands_the_same(config, root, files):
    environ = {"TRAIN_GPUS": "0,1", "EVAL_GPUS": "2", "READ_ONLY": "true"}
    done = call([programs.compose("2.20.1")], files, root, environ)
    assert (done.returncode, done.stderr) == (0, "")
    old, new = json.loads(done.stdout)["services"], config(files, **environ)
    assert set(old) == set(new)
    for name in new:
        for key in (
            "image",
            "entrypoint",
            "command",
            "environment",
            "runtime",
            "user",
            "cap_drop",
            "cap_add",
            "init",
            "security_opt",
            "read_only",
            "tmpfs",
            "depends_on",
            "deploy",
            "logging",
            "ulimits",
            "pull_policy",
        ):
            assert old[name].get(key) == new[name].get(key), (name, key)


@pytest.mark.long
def test_an_older_compose_says_what_the_troubleshooting_page_explains(root):
    done = call([programs.compose("2.17.3")], "runtime", root, {})
    assert done.returncode != 0
    assert "Additional property required is not allowed" in done.stderr
    with open(os.path.join(root, "docs", "troubleshooting.md"), encoding="utf-8") as file:
        (row,) = [line for line in file if "Additional property required is not allowed" in line]
    assert "docker-compose-plugin, 2.20 or newer" in row


def test_docker_compose_1_shows_what_is_needed_in_its_error(root):
    """It replaces variables first, knows no `:+`, and quotes the first value that has one."""
    with open(os.path.join(root, "compose.yaml")) as file:
        lines = [line for line in file if ":+" in line and not line.lstrip().startswith("#")]
    assert lines[0].split(": ")[1] == (
        '"${COMPOSE:+}docker compose 2.20 or newer, from the package docker-compose-plugin"\n'
    )
