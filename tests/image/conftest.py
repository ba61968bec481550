"""The image, a clone that belongs to an ordinary user, containers and compose projects; gone afterwards."""

import os
import time
import uuid

import pytest

import docker
from tests.image.containers import (
    IMAGE,
    TITLE,
    WATCH,
    WATCH_VOLUME,
    Compose,
    Ended,
    assert_alone,
    assert_clean,
    make_clone,
)

# The prefix of every project, container and network of these tests.
OURS = "tfodtest"


def unnamed_images(engine):
    """Ids of images of ours without a name: each build leaves the one before it so."""
    return {image.id for image in engine.images.list(filters={"dangling": True, "label": TITLE})}


def of_ours(engine):
    """What only these tests make: names of containers, networks, volumes and images."""
    names = [container.name for container in engine.containers.list(all=True)]
    names += [network.name for network in engine.networks.list()]
    names += [volume.name for volume in engine.volumes.list()]
    names += [tag for image in engine.images.list() for tag in image.tags]
    return [name for name in names if name.startswith((OURS, "tfod-train-test"))]


@pytest.fixture(scope="session")
def engine():
    """The Docker engine, which afterwards has nothing of these tests but the cache of the builds."""
    client = docker.from_env(timeout=600)
    client.ping()
    before = unnamed_images(client)
    yield client
    for name in {tag for image in client.images.list() for tag in image.tags if tag.startswith("tfod-train-test")}:
        client.images.remove(name, force=True)
    for unnamed in unnamed_images(client) - before:
        client.images.remove(unnamed, force=True)
    left = of_ours(client) + sorted(unnamed_images(client) - before)
    client.close()
    assert left == []


@pytest.fixture(scope="session")
def clone(tmp_path_factory):
    """The folder of a clone, in which compose runs; tests share its data and choose their RUN_DIR."""
    # Not pytest's own folder, which is private to the user of the tests: the clone belongs to another.
    base = tmp_path_factory.mktemp("image")
    for folder in (base, base.parent):
        folder.chmod(0o755)
    return make_clone(str(base / "clone"))


@pytest.fixture(scope="session")
def image(clone, engine):
    """The image of this clone, built by compose."""
    began = time.time()
    built = Compose(clone, engine, OURS + uuid.uuid4().hex[:8]).build()
    assert built.code == 0, built.log
    print(f"built in {time.time() - began:.0f} s")
    return engine.images.get(IMAGE)


@pytest.fixture
def compose(clone, engine, image):
    """A compose project of the clone, taken down afterwards; what its containers left is held to be clean."""
    project = Compose(clone, engine, OURS + uuid.uuid4().hex[:8])
    yield project
    try:
        project.assert_nothing_stray()
    finally:
        project.down()


@pytest.fixture
def start(engine, image):
    """function(command, watched=True, **options of the SDK) -> a started container, removed afterwards.

    Its log and its processes are held to be clean then. watched=False leaves its first process the image's own.
    """
    started = []

    def run(command, watched=True, **options):
        if watched:
            entrypoint = options.pop("entrypoint", image.attrs["Config"]["Entrypoint"])
            command = ([entrypoint] if isinstance(entrypoint, str) else entrypoint) + command
            options.update(entrypoint=WATCH, volumes=dict(options.get("volumes", {}), **WATCH_VOLUME))
        started.append(engine.containers.run(image, command, detach=True, **options))
        return started[-1]

    yield run
    try:
        for container in started:
            assert_clean(container.logs().decode())
            assert_alone(container)
    finally:
        for container in started:
            container.remove(force=True)


@pytest.fixture
def run(start):
    """function(command, **options of the SDK) -> Ended, its log without a stray warning or process."""

    def run_to_the_end(command, **options):
        container = start(command, **options)
        code = container.wait(timeout=300)["StatusCode"]
        log = container.logs().decode()
        assert_clean(log)
        return Ended(code, log)

    return run_to_the_end


@pytest.fixture
def folders(tmp_path):
    """function(owner, mode) -> volumes for the SDK: /runs and /data on fresh folders of that owner."""

    def make(owner, mode=0o755):
        volumes = {}
        for name in ("runs", "data"):
            folder = tmp_path / name
            folder.mkdir()
            folder.chmod(mode)
            if os.getuid() == 0:
                os.chown(str(folder), owner, owner)
            volumes[str(folder)] = {"bind": "/" + name, "mode": "rw"}
        return volumes

    return make
