"""What Docker itself says when something is missing: each of its sentences, provoked here, is explained in
docs/troubleshooting.md, by one row of the table there and by no other."""

import os
import shutil
import socket
import subprocess
import tempfile

import pytest
import yaml

from tests.image.containers import ROOT

pytestmark = pytest.mark.image

NOBODY = 65534
PLUGINS = [
    path
    for path in (
        "/usr/local/lib/docker/cli-plugins",
        "/usr/local/libexec/docker/cli-plugins",
        "/usr/lib/docker/cli-plugins",
        "/usr/libexec/docker/cli-plugins",
    )
    if os.path.isdir(path)
]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can take rights and plugins away")
without_toolkit = pytest.mark.skipif(
    shutil.which("nvidia-container-runtime-hook") is not None, reason="this host's Docker can give GPUs out"
)


@pytest.fixture(scope="module")
def rows():
    """[(sentences, each a list of its fixed parts; cure)] of the table "Docker's own words"."""
    with open(os.path.join(ROOT, "docs", "troubleshooting.md"), encoding="utf-8") as file:
        table = file.read().split("## Docker's own words")[1].split("## ")[0]
    found = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and not line.startswith("| Docker says"):
            sentences = [
                [part.strip() for part in sentence.split("…") if part.strip()] for sentence in cells[0].split("; ")
            ]
            found.append((sentences, " | ".join(cells[1:])))
    return found


@pytest.fixture
def cure(rows):
    """function(what Docker said) -> the cure of the one row that has it."""

    def find(said):
        # Where compose writes to no terminal, it puts its warnings in quotes.
        said = " ".join(said.replace('\\"', '"').split())
        found = [cure for sentences, cure in rows if any(in_order(said, parts) for parts in sentences)]
        assert len(found) == 1, (said, found)
        return found[0]

    return find


@pytest.fixture
def readable_by_all():
    """A folder with compose.yaml that any user may read, which pytest's own are not."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    shutil.copy(os.path.join(ROOT, "compose.yaml"), folder)
    yield folder
    shutil.rmtree(folder)


def in_order(text, parts):
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def docker(clone, command, **options):
    """What a command without its own settings says to people."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/tmp"}
    environ.update(options.pop("environ", {}))
    done = subprocess.run(
        command,
        cwd=clone,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        universal_newlines=True,
        timeout=120,
        **options,
    )
    assert done.returncode != 0
    return done.stdout


def test_docker_absent(clone, cure):
    said = docker(clone, ["/bin/sh", "-c", "docker compose up train"], environ={"PATH": "/nowhere"})
    assert "install Docker Engine with compose 2.20" in cure(said)


@needs_root
def test_no_compose_plugin(clone, cure):
    hide = " && ".join("mount -t tmpfs none " + path for path in PLUGINS)
    said = docker(clone, ["unshare", "--mount", "sh", "-c", hide + " && docker compose up train"])
    assert "docker-compose-plugin" in cure(said)
    said = docker(clone, ["unshare", "--mount", "sh", "-c", hide + " && docker compose up -d train"])
    assert "docker-compose-plugin" in cure(said)


def test_daemon_down(compose, cure):
    done = compose.call("up", "train", clean=False, DOCKER_HOST="unix:///nowhere/docker.sock")
    assert done.code != 0 and "sudo systemctl start docker" in cure(done.log)


@needs_root
def test_no_right_to_the_socket(cure, readable_by_all):
    def become_nobody():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    said = docker(readable_by_all, ["docker", "compose", "up", "train"], preexec_fn=become_nobody)
    assert "usermod -aG docker" in cure(said)


def test_base_image_unreachable(compose, cure):
    done = compose.build(BASE_IMAGE="registry.invalid/nothing:1")
    assert done.code != 0 and "docker load" in cure(done.log)


def test_no_runtime_of_that_name(compose, cure):
    done = compose.call("run", "--rm", "--no-deps", "preflight", clean=False, DOCKER_RUNTIME="nvidai")
    assert done.code != 0
    found = cure(done.log)
    assert "nvidia-ctk runtime configure" in found and "DOCKER_RUNTIME=runc DEVICE=cpu" in found


@without_toolkit
@pytest.mark.parametrize(
    "name, told",
    [
        ("compose.gpu-reservations.yaml", "nvidia-container-toolkit"),
        ("compose.gpu-cdi.yaml", "nvidia-ctk cdi generate"),
    ],
)
def test_no_way_to_give_gpus_out(compose, cure, name, told):
    with open(os.path.join(ROOT, name)) as file:
        change = yaml.safe_load(file)
    done = compose.call("run", "--rm", "--no-deps", "preflight", clean=False, change=change)
    assert done.code != 0 and told in cure(done.log)


def test_images_that_are_not_there(compose, cure):
    done = compose.call("run", "--rm", "data", "pets", clean=False, PETS_DIR="/nowhere")
    assert done.code != 0 and "PETS_DIR" in cure(done.log)


def test_a_port_that_is_taken(compose, cure):
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 6006))
            taken.listen(1)
        except OSError:
            pass  # by somebody else, which is as good
        done = compose.call("run", "--rm", "--service-ports", "tensorboard", clean=False)
    assert done.code != 0 and "port 6006" in cure(done.log)


def test_data_that_cannot_be_made(compose, cure):
    done = compose.call("up", "train", clean=False, DATASET="petz", DEVICE="cpu")
    assert "Exit codes" in cure(done.log)
