"""Parameter servers: where the variables are, who can reach them, and that none outlives its training."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.training_fixtures import TINY_CONFIG

# argv: how many servers, whether to wait until they listen, and what becomes of this process then.
PARENT = """
import os, sys, time
from tfod_train.trainers.parameter_servers import ParameterServers
servers = ParameterServers(int(sys.argv[1]), print)
if sys.argv[2] == "connect":
    import tensorflow.compat.v1 as tf
    servers.connect(tf.ConfigProto(device_count={"CPU": 2}))
if sys.argv[3] == "error":
    try:
        with servers:
            print(" ".join(map(str, servers.pids)), flush=True)
            raise ValueError("diverged, say")
    except ValueError:
        time.sleep(600)
print(" ".join(map(str, servers.pids)), flush=True)
if sys.argv[3] == "exec":
    os.execvp("sleep", ["sleep", "600"])
time.sleep(600)
"""
GONE_SECS = 60  # on a busy machine too; what is not ended stays for longer


def servers_of(pid):
    """Process ids of the parameter servers that the process started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as source:
                arguments = source.read().split(b"\0")
        except OSError:
            continue
        if b"tfod_train.trainers.parameter_servers" in arguments and str(pid).encode() in arguments:
            found.append(int(name))
    return found


def comes_true(condition):
    """Whether it does before GONE_SECS are over."""
    end = time.time() + GONE_SECS
    while not condition():
        if time.time() > end:
            return False
        time.sleep(0.05)
    return True


def all_gone(pid):
    return comes_true(lambda: not servers_of(pid))


def imports_tensorflow(pid):
    with open(f"/proc/{pid}/maps") as source:
        return "tensorflow" in source.read()


def environment_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as source:
        return dict(entry.split(b"=", 1) for entry in source.read().split(b"\0") if b"=" in entry)


@pytest.fixture
def parent(project_dir):
    """function(servers, "start" or "connect", "sleep", "error" or "exec") -> Popen; its first line has been read."""
    started = []

    def start(count, how_far, then):
        environ = dict(os.environ, PYTHONPATH=project_dir, http_proxy="http://127.0.0.1:9")
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", PARENT, str(count), how_far, then],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        assert len(process.stdout.readline().split()) == count
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_kernel_kills_servers_whose_training_was_killed(parent):
    process = parent(2, "start", "sleep")
    servers = servers_of(process.pid)
    assert len(servers) == 2 and comes_true(lambda: all(imports_tensorflow(pid) for pid in servers))
    # Stopped, they cannot notice by themselves that their pipe closes.
    for pid in servers:
        os.kill(pid, signal.SIGSTOP)
    process.kill()
    try:
        assert all_gone(process.pid)
    finally:
        for pid in servers_of(process.pid):
            os.kill(pid, signal.SIGKILL)


def test_servers_end_with_an_error_of_the_training(parent):
    process = parent(2, "start", "error")
    assert all_gone(process.pid)
    assert process.poll() is None


@pytest.mark.tensorflow
def test_servers_end_when_their_training_becomes_another_program(parent):
    process = parent(2, "connect", "exec")
    assert all_gone(process.pid)
    assert process.poll() is None  # so it was not its death that ended them


@pytest.fixture(scope="module")
def begun(tiny_training, tmp_path_factory):
    """Three steps on two parameter servers, with sync_replicas in the config and a proxy in the environment."""
    folder = tmp_path_factory.mktemp("ps")
    with open(TINY_CONFIG) as source:
        text = source.read().replace("train_config {", "train_config { sync_replicas: true replicas_to_aggregate: 2")
    (folder / "sync.config").write_text(text)
    return tiny_training(
        folder / "run",
        TRAINER="clone",
        PS_TASKS="2",
        NUM_STEPS="3",
        http_proxy="http://127.0.0.1:9",
        PIPELINE_CONFIG=str(folder / "sync.config"),
    )


@pytest.fixture(scope="module")
def resumed(begun, tiny_training):
    """The same run resumed to step 4, the variables in the training's own process."""
    return tiny_training(begun.folder, TRAINER="clone", NUM_STEPS="4")


def variables_of(run, step):
    import tensorflow.compat.v1 as tf

    meta_graph = tf.MetaGraphDef()
    with open(os.path.join(run.folder, f"model.ckpt-{step}.meta"), "rb") as source:
        meta_graph.ParseFromString(source.read())
    return [node for node in meta_graph.graph_def.node if node.op in ("VariableV2", "VarHandleOp")]


@pytest.mark.training
@pytest.mark.long
def test_all_variables_are_on_the_servers(begun):
    assert begun.code == 0, begun.console
    assert any("variables on 2 parameter servers" in line for line in begun.lines[:3])
    where = {re.search(r"/job:(\w+)", node.device).group(1) for node in variables_of(begun, 3)}
    tasks = {re.search(r"/task:(\d+)", node.device).group(1) for node in variables_of(begun, 3)}
    assert (where, tasks) == ({"ps"}, {"0", "1"})


@pytest.mark.training
@pytest.mark.long
def test_a_config_with_sync_replicas_trains_on_two_clones(begun):
    assert begun.manifest()["step"] == 3
    assert "sync_replicas: true -> false" in " ".join(begun.manifest()["config_changes"])


@pytest.mark.training
@pytest.mark.long
def test_a_run_made_with_servers_goes_on_without(resumed):
    assert resumed.code == 0, resumed.console
    assert "Resuming from step 3 to 4." in resumed.lines
    assert not any("job:ps" in node.device for node in variables_of(resumed, 4))


@pytest.fixture
def training(tiny_command, resumed):
    """function(**settings) -> (Popen, its servers' process ids) of the run resumed, after its first step."""
    started = []

    def start(**environ):
        argv, arguments = tiny_command("train", resumed.folder, TRAINER="clone", NUM_STEPS="1000000", **environ)
        process = subprocess.Popen(argv, start_new_session=True, **arguments)
        started.append(process)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("First step"):
                return process, servers_of(process.pid)
        raise AssertionError("".join(lines))

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.training
@pytest.mark.long
def test_a_run_made_without_resumes_with_servers_and_ctrl_c_saves_what_they_hold(training, resumed):
    process, servers = training(PS_TASKS="2")
    assert len(servers) == 2
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the servers get it too
    console = process.stdout.read()
    assert process.wait() == 130, console
    assert all_gone(process.pid)
    assert resumed.manifest()["outcome"] == "stopped"
    assert resumed.checkpoints[-1] == resumed.manifest()["step"] > 4


@pytest.mark.long
def test_servers_have_no_gpu_and_none_outlives_a_killed_training(training):
    process, servers = training(PS_TASKS="1")
    assert [environment_of(pid)[b"CUDA_VISIBLE_DEVICES"] for pid in servers] == [b"-1"]
    process.kill()
    assert all_gone(process.pid)


@pytest.mark.long
def test_a_training_whose_server_died_says_so_and_ends(training, resumed):
    process, servers = training(PS_TASKS="2")
    os.kill(servers[0], signal.SIGKILL)
    console = process.stdout.read()
    assert process.wait() == 1
    assert re.search(
        r"Parameter server [12] of 2 ended \(it was killed \(signal 9\).*\)\.\nStart the training again", console
    ), console
    assert resumed.manifest()["outcome"] == "failed"
    assert all_gone(process.pid)
