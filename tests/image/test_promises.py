"""What Docker was told of each service of compose.yaml, as the engine itself has it."""

import uuid

import pytest

from common.commands import COMMANDS
from tests.image.containers import Compose

pytestmark = pytest.mark.image

SERVICES = set(COMMANDS) | {"tensorboard"}
TRAINERS = ("train", "eval", "preflight")


@pytest.fixture(scope="module")
def created(clone, engine, image):
    """{service: what the engine says of its container}, none of which is started."""
    project = Compose(clone, engine, "tfodtest" + uuid.uuid4().hex[:8])
    try:
        done = project.call("--profile", "tools", "create", READ_ONLY="true", TRAIN_GPUS="0,1,2", EVAL_GPUS="3")
        assert done.code == 0, done.log
        yield {each.labels["com.docker.compose.service"]: each.attrs for each in project.containers()}
    finally:
        project.down()


def test_every_service_is_locked_down_and_logs_within_limits(created):
    assert set(created) == SERVICES
    for name, told in created.items():
        host = told["HostConfig"]
        assert host["CapDrop"] == ["ALL"] and not host["Privileged"], name
        assert {each.replace("CAP_", "") for each in host["CapAdd"]} == {"SETUID", "SETGID", "KILL"}, name
        assert host["SecurityOpt"] == ["no-new-privileges:true"], name
        assert host["Init"] is True and host["ReadonlyRootfs"] is True, name
        assert host["LogConfig"] == {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "3"}}, name
        assert host["Tmpfs"] == {"/tmp": "mode=1777"}, name
        # Nothing of the host is there to be written but the two folders.
        binds = {mount["Destination"] for mount in told["Mounts"] if mount["Type"] == "bind" and mount["RW"]}
        assert binds == {"/runs", "/data"}, name


@pytest.mark.parametrize("name", TRAINERS)
def test_trainers_have_memory_to_share_time_to_stop_and_a_cache(created, name):
    host = created[name]["HostConfig"]
    assert host["ShmSize"] == 2 * 2**30
    limits = {each["Name"]: each["Soft"] for each in host["Ulimits"]}
    assert limits == {"memlock": 8388608, "stack": 67108864}
    assert created[name]["Config"]["StopTimeout"] == 180
    (volume,) = [mount for mount in created[name]["Mounts"] if mount["Type"] == "volume"]
    assert volume["Destination"] == "/tmp/cuda-cache"


def test_gpus_are_those_that_are_named(created):
    gpus = {
        name: value
        for name, told in created.items()
        for variable, _, value in (pair.partition("=") for pair in told["Config"]["Env"])
        if variable == "NVIDIA_VISIBLE_DEVICES"
    }
    assert gpus == dict(dict.fromkeys(SERVICES, "none"), train="0,1,2", preflight="0,1,2", eval="3")


def test_ports_are_for_this_machine_only(created):
    ports = {name: told["HostConfig"]["PortBindings"] or {} for name, told in created.items()}
    assert ports == dict(
        dict.fromkeys(SERVICES, {}), tensorboard={"6006/tcp": [{"HostIp": "127.0.0.1", "HostPort": "6006"}]}
    )
