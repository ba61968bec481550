"""What the tests of the image share: a clone, ended containers, compose in the clone, a clean log."""
import os
import re
import shutil
import subprocess
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMAGE = "tfod-train"
# The user of the clone: this one, or an ordinary one where the tests run as root.
USER = os.getuid() or 1000

# Variables that say where the engine is and what to build on.
KEPT = ("PATH", "HOME", "DOCKER_HOST", "BASE_IMAGE")

STRAY = re.compile(r"warn|traceback|deprecat|\berror\b", re.IGNORECASE)


class Ended(NamedTuple):
    """A container that has ended: its exit code and all it wrote."""
    code: int
    log: str

    @property
    def lines(self):
        return self.log.splitlines()


def assert_clean(log):
    """The log of a good run has no warning, no traceback and no error in it."""
    stray = [line for line in log.splitlines() if STRAY.search(line)]
    assert not stray, "\n".join(stray)


def owners(folder):
    """The (uid, gid) pairs of everything under a folder."""
    found = set()
    for parent, folders, files in os.walk(str(folder)):
        for name in folders + files:
            status = os.lstat(os.path.join(parent, name))
            found.add((status.st_uid, status.st_gid))
    return found


def make_clone(folder):
    """What git would put into a clone made now, owned by USER."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, universal_newlines=True)
    for name in filter(None, listed.split("\0")):
        source, target = os.path.join(ROOT, name), os.path.join(folder, name)
        if os.path.exists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    if os.getuid() == 0:
        subprocess.check_call(["chown", "-R", "{0}:{0}".format(USER), folder])
    return folder


class Compose:
    """`docker compose` in a clone, with nothing of this shell's settings."""

    def __init__(self, folder, engine, name):
        self.folder = folder
        self.engine = engine
        self.name = name

    def call(self, *arguments, **environ):
        """Runs docker compose; returns Ended with what it wrote to stdout and stderr."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        done = subprocess.run(
            ["docker", "compose", "--project-name", self.name, "--progress", "quiet"] + list(arguments),
            cwd=self.folder, env=dict(kept, DOCKER_RUNTIME="runc", **environ), universal_newlines=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        return Ended(done.returncode, done.stdout)

    def build(self, **environ):
        """Builds the image; Ended with every line of the build."""
        return self.call("--progress", "plain", "build", "data", **environ)

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

    def ended(self, service):
        """Ended of a service: waits for it to end."""
        container = self.container(service)
        code = container.wait()["StatusCode"]
        return Ended(code, container.logs().decode())
