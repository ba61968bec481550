"""What the tests of the image share: a clone, ended containers, compose in the clone, a log and processes without
anything that should not be there."""

import json
import os
import re
import shutil
import subprocess
from typing import NamedTuple

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Not the name in compose.yaml: the image of whoever runs the tests stays as it is.
IMAGE = "tfod-train-test"
TITLE = "org.opencontainers.image.title=tfod-train"
# The user of the clone: this one, or an ordinary one where the tests run as root.
USER = os.getuid() or 1000

# Variables that say where the engine is and what to build on.
KEPT = ("PATH", "HOME", "DOCKER_HOST", "BASE_IMAGE")

STRAY = re.compile(r"warn|traceback|deprecat|\berror\b|leftover", re.IGNORECASE)
# Compose's word about the host, not about what runs: without buildx it builds by itself.
NO_BUILDX = "Docker Compose is configured to build using Bake, but buildx isn't installed"

# Below /tmp, which is no part of the image, and may be a file system of its own.
WATCHED = "/tmp/watched.py"
WATCH = ["python", "-I", WATCHED]
WATCH_VOLUME = {os.path.join(HERE, "watched.py"): {"bind": WATCHED, "mode": "ro"}}
# What a container runs beside its command: Docker's init, the watcher, and health checks.
BESIDE = re.compile(rf"docker-init|{re.escape(WATCHED)}|healthcheck\.py|/sbin/tini")

# What make_clone puts into files that must not get into an image, to be looked for in it.
SECRET = "b5c0e1d4-not-for-any-image"
NOT_FOR_THE_IMAGE = (
    ".env",
    ".netrc",
    "data/secret.txt",
    "runs/secret/train.log",
    ".venv/secret.txt",
    "docker/secret.txt",
    "docker/locks/secret.txt",
    "docker/supply_chain/secret.txt",
    "common/.env",
    "tfod_train/.env",
    "tfod_train/run/.env",
    "configs/.git/config",
    "data_prep/.cache/secret.txt",
    "configs/__pycache__/secret.pyc",
    "tfod_train/__pycache__/secret.cpython-36.pyc",
    "data_prep/left.pyc",
)


class Ended(NamedTuple):
    """A container that has ended: its exit code and all it wrote."""

    code: int
    log: str

    @property
    def lines(self):
        return self.log.splitlines()


def assert_clean(log):
    """The log of a good run has no warning, no traceback, no error and no leftover process in it."""
    stray = [line for line in log.splitlines() if STRAY.search(line) and NO_BUILDX not in line]
    assert not stray, "\n".join(stray)


def assert_alone(container):
    """A running container has its command, and nothing beside it that was forgotten or that nobody waits for."""
    container.reload()
    if container.status != "running":
        return
    table = container.top(ps_args="-eo pid,stat,args")["Processes"]
    found = [row for row in table if not BESIDE.search(row[2])]
    assert len(found) <= 1 and not any(row[1].startswith("Z") for row in table), table


def owners(folder):
    """The (uid, gid) pairs of everything under a folder."""
    found = set()
    for parent, folders, files in os.walk(str(folder)):
        for name in folders + files:
            status = os.lstat(os.path.join(parent, name))
            found.add((status.st_uid, status.st_gid))
    return found


def make_clone(folder):
    """What git would put into a clone made now, and what people have in theirs besides, owned by USER."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, universal_newlines=True
    )
    for name in filter(None, listed.split("\0")):
        source, target = os.path.join(ROOT, name), os.path.join(folder, name)
        if os.path.exists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    for name in NOT_FOR_THE_IMAGE:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(f"# {SECRET}\n")
    if os.getuid() == 0:
        subprocess.check_call(["chown", "-R", f"{USER}:{USER}", folder])
    return folder


def build_cache(engine):
    """Ids of what the engine keeps of builds."""
    return {record["ID"] for record in engine.df().get("BuildCache") or []}


def forget(engine, image, records):
    """Removes an image and what the engine keeps of its build, which nothing will ask for again."""
    if engine.images.list(image):
        engine.images.remove(image, force=True)
    before = None
    # What a record was made from goes after it, in a later turn.
    while records and records != before:
        for record in records:
            filters = json.dumps({"id": {record: True}})
            engine.api.post(engine.api.base_url + "/build/prune", params={"filters": filters}).raise_for_status()
        before, records = records, records & build_cache(engine)


def override(image, watched):
    """What tests change in compose.yaml: the image's name and, to see leftover processes, what starts first."""
    with open(os.path.join(ROOT, "compose.yaml")) as file:
        services = yaml.safe_load(file)["services"]
    with open(os.path.join(ROOT, "docker", "Dockerfile")) as file:
        entrypoint = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", file.read(), re.MULTILINE).group(1))
    changed = {}
    for name, service in services.items():
        changed[name] = {"image": image}
        if watched:
            ((source, mount),) = WATCH_VOLUME.items()
            changed[name].update(
                entrypoint=WATCH + service.get("entrypoint", entrypoint),
                volumes=["{}:{}:ro".format(source, mount["bind"])],
            )
    return {"services": changed}


class Compose:
    """`docker compose` in a clone, with nothing of this shell's settings and an image of its own name.

    What its containers write is held to assert_clean, and their processes are watched.
    """

    def __init__(self, folder, engine, name):
        self.folder = folder
        self.engine = engine
        self.name = name

    def call(self, *arguments, watched=True, clean=True, image=IMAGE, change=None, **environ):
        """Runs docker compose; returns Ended with what it wrote to stdout and stderr.

        Args:
          watched: start each command by watched.py.
          clean: what `up` and `run` write has to be clean.
          change: more that is changed in compose.yaml, as a dict.
          environ: settings.
        """
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        kept["DOCKER_RUNTIME"] = "runc"
        kept.update(environ)
        files = ["compose.yaml"]
        for number, content in enumerate((override(image, watched), change)):
            if content:
                files.append(f".{self.name}-{number}.yaml")
                with open(os.path.join(self.folder, files[-1]), "w") as file:
                    json.dump(content, file)
        command = ["docker", "compose", "--project-name", self.name, "--progress", "quiet"]
        for name in files:
            command += ["-f", name]
        try:
            done = subprocess.run(
                command + list(arguments),
                cwd=self.folder,
                env=kept,
                universal_newlines=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        finally:
            for name in files[1:]:
                os.remove(os.path.join(self.folder, name))
        if clean and arguments[0] in ("up", "run"):
            assert_clean(done.stdout)
        return Ended(done.returncode, done.stdout)

    def build(self, *options, **environ):
        """Builds the image; Ended with every line of the build."""
        return self.call("--progress", "plain", "build", *options + ("data",), **environ)

    def containers(self, *labels):
        project = ["com.docker.compose.project=" + self.name]
        return self.engine.containers.list(all=True, filters={"label": project + list(labels)})

    def container(self, service):
        return self.containers("com.docker.compose.service=" + service)[0]

    def down(self):
        """Removes everything of the project; `docker compose down` leaves what `run --detach` started."""
        for container in self.containers():
            container.remove(force=True)
        self.call("down", "--volumes")

    def assert_nothing_stray(self):
        """Of the containers that are still there: a clean log, and no process but the command."""
        for container in self.containers():
            assert_clean(container.logs().decode())
            assert_alone(container)

    def ended(self, service):
        """Ended of a service: waits for it to end."""
        container = self.container(service)
        code = container.wait()["StatusCode"]
        return Ended(code, container.logs().decode())
