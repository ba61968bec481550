"""Who runs in the container, what it may write, and whose its outputs are."""

import os
import stat
import time

import pytest

from tests.image.containers import USER, owners

pytestmark = pytest.mark.image

# TensorFlow 1.15 says at import that numpy will change one day; compose.yaml says the same for TensorBoard.
QUIET = {"PYTHONWARNINGS": "ignore::FutureWarning", "TF_CPP_MIN_LOG_LEVEL": "2"}
AS_ROOT = {
    "user": "0:0",
    "cap_drop": ["ALL"],
    "cap_add": ["SETUID", "SETGID", "KILL"],
    "security_opt": ["no-new-privileges:true"],
}
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders to another user")


def status_of_first_process(container):
    """The fields of /proc/1/status, once TensorBoard is what runs there."""
    for _ in range(100):
        if b"tensorboard.main" in container.exec_run("cat /proc/1/cmdline").output.split(b"\0"):
            text = container.exec_run("cat /proc/1/status").output.decode()
            return {line.split(":")[0]: line.split(":")[1].split() for line in text.splitlines()}
        time.sleep(0.1)
    raise AssertionError(container.logs().decode())


def test_the_image_is_not_root_by_itself(image, run):
    assert image.attrs["Config"]["User"] == "1000:1000"
    assert run(["-c", "import os; print(os.getuid())"], entrypoint="python").log == "1000\n"


@needs_root
def test_root_becomes_the_owner_of_runs_and_keeps_no_capability(start, folders):
    container = start(
        ["tensorboard", "--logdir", "/runs"], watched=False, volumes=folders(owner=1234), environment=QUIET, **AS_ROOT
    )
    status = status_of_first_process(container)
    assert status["Uid"] == status["Gid"] == ["1234"] * 4
    assert status["Groups"] == []
    assert status["CapEff"] == status["CapPrm"] == ["0" * 16]


@needs_root
def test_runs_of_root_keep_root_and_one_line_says_so(run, folders):
    done = run(["--help"], volumes=folders(owner=0), **AS_ROOT)
    assert done.code == 0
    assert done.lines[0] == "/runs belongs to root, so this runs as root and so do its outputs."
    assert done.lines[1].startswith("usage:")


def test_another_user_stays_that_user(start, folders):
    container = start(
        ["tensorboard", "--logdir", "/runs"],
        watched=False,
        user="4321:4321",
        volumes=folders(owner=USER),
        environment=QUIET,
    )
    status = status_of_first_process(container)
    assert status["Uid"] == status["Gid"] == ["4321"] * 4


@pytest.mark.parametrize("command, folder", [("train", "runs"), ("eval", "runs"), ("data", "data")])
def test_a_folder_that_cannot_be_written_is_named_with_the_cure(run, folders, command, folder):
    done = run([command], user="4321:4321", volumes=folders(owner=USER))
    assert done.code == 3
    assert done.lines == [
        f"/{folder} cannot be written: it belongs to user {USER}:{USER}, and this runs as 4321:4321.",
        f"Give it to the user on the host, `sudo chown -R 4321:4321 {folder}`, and mount it without `ro`.",
    ]


def test_home_can_be_written_and_the_program_cannot(run):
    look = (
        "import os; print(os.access(os.environ['HOME'], os.W_OK), any("
        "os.access(os.path.join(top, name), os.W_OK) "
        "for top, folders, files in os.walk('/opt/tfod-train') for name in folders + files "
        "if not os.path.islink(os.path.join(top, name))))"
    )
    assert run(["-c", look], entrypoint="python", user="4321:4321").log == "True False\n"


def test_compose_gives_outputs_to_the_owner_of_the_clone_with_nothing_configured(compose, clone):
    done = compose.call("run", "--rm", "data", "mini-pets")
    assert done.code == 0, done.log
    assert owners(os.path.join(clone, "data")) == {(USER, USER)}
    assert stat.S_IMODE(os.stat(os.path.join(clone, "data/mini-pets/dataset.json")).st_mode) & 0o044 == 0o044
