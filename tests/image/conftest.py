"""The image, a clone that belongs to an ordinary user, containers and compose projects; gone afterwards."""
import os
import sys
import time
import uuid

import docker
import pytest

# Tests are imported by path here (pytest.ini), so the folder is on no path by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from containers import IMAGE, Compose, Ended, assert_clean, make_clone  # noqa: E402


@pytest.fixture(scope="session")
def engine():
    client = docker.from_env(timeout=600)
    client.ping()
    yield client
    client.close()


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
    built = Compose(clone, engine, "build" + uuid.uuid4().hex[:8]).build()
    assert built.code == 0, built.log
    print("built in {:.0f} s".format(time.time() - began))
    return engine.images.get(IMAGE)


@pytest.fixture
def compose(clone, engine, image):
    """A compose project of the clone, taken down afterwards."""
    project = Compose(clone, engine, "test" + uuid.uuid4().hex[:8])
    yield project
    project.down()


@pytest.fixture
def start(engine, image):
    """function(command, **options of the SDK) -> a started container, removed afterwards."""
    started = []

    def run(command, **options):
        started.append(engine.containers.run(image, command, detach=True, **options))
        return started[-1]
    yield run
    for container in started:
        container.remove(force=True)


@pytest.fixture
def run(start):
    """function(command, **options of the SDK) -> Ended, its log without a stray warning."""
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
