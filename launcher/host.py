"""What this machine answers: Docker, GPUs and Python interpreters, each asked with a time limit."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from launcher import where

# Pinned by docker/Dockerfile too; a test holds the two together.
BASE_IMAGE = "tensorflow/tensorflow:1.15.0-gpu-py3"
ENGINE_SECS = 15
REGISTRY_SECS = 30
PYTHON_SECS = 20
UV_INSTALL_SECS = 300

# Answered with the version and the runtimes: "24.0.7 nvidia runc".
DOCKER_QUESTIONS = "{{.ServerVersion}} {{range $name, $_ := .Runtimes}}{{$name}} {{end}}"

# Printed by a candidate interpreter: all that decides whether the locked packages can be installed with it.
PYTHON_QUESTIONS = """
import json, os, platform, sys, sysconfig
found = {"version": platform.python_version(), "minor": "%d.%d" % sys.version_info[:2],
         "cpython": platform.python_implementation() == "CPython", "bits64": sys.maxsize > 2 ** 32,
         "glibc": platform.libc_ver()[0] == "glibc",
         "headers": os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))}
try:
    import ensurepip, venv, ssl
    found["venv"] = True
except ImportError:
    found["venv"] = False
print(json.dumps(found))
"""


class Answer(NamedTuple):
    """A finished command; `code` is None when it is not there or gave no answer in time."""

    code: Optional[int]
    out: str
    err: str


class Interpreter(NamedTuple):
    """A Python that can make the environment: its path, "3.7.16" and "3.7"."""

    path: str
    version: str
    minor: str


def ask(argv: Sequence[str], seconds: float) -> Answer:
    """Runs a short question and returns its Answer; never raises for what the command does."""
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        return Answer(None, "", str(error))
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return Answer(None, "", f"no answer in {seconds} s")
    finally:
        if process.poll() is None:
            # The whole group: a docker plugin left behind would hold the pipes open.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return Answer(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def ask_docker(
    base_image: str, seconds: float = ENGINE_SECS, registry_seconds: float = REGISTRY_SECS
) -> where.DockerAnswer:
    """Asks engine, compose and base image in that order, and stops at the first that is missing.

    Args:
        base_image: BASE_IMAGE.
        seconds: the longest that each question to the engine may take.
        registry_seconds: the same for the question to the registry.
    """
    if shutil.which("docker") is None:
        return where.DockerAnswer(why_not="there is no docker command")
    info = ask(["docker", "info", "--format", DOCKER_QUESTIONS], seconds)
    words = info.out.split()
    if info.code != 0 or not words:
        denied = "permission denied" in info.err.lower()
        return where.DockerAnswer(
            why_not="this user may not use Docker's socket" if denied else "no Docker engine answers"
        )
    version = ask(["docker", "compose", "version", "--short"], seconds)
    number = re.match(r"v?(\d+)\.(\d+)", version.out.strip()) if version.code == 0 else None
    compose = tuple(int(part) for part in number.groups()) if number else None
    found = (
        ask(["docker", "image", "inspect", base_image], seconds).code == 0
        or ask(["docker", "manifest", "inspect", base_image], registry_seconds).code == 0
    )
    return where.DockerAnswer(
        engine=words[0], runtimes=tuple(words[1:]), compose=compose, base_image=base_image, base_image_found=found
    )


def image_id(image: str) -> str:
    """The id of an image ("sha256:..."), "" where the engine does not say."""
    return ask(["docker", "image", "inspect", "--format", "{{.Id}}", image], ENGINE_SECS).out.strip()


def as_built() -> List[str]:
    """Options that make `docker compose run` take the image as it was built a moment ago.

    compose.yaml asks for a build before each start. Where compose is too old for the option (it is newer than
    2.20) that happens once more, which takes a second.
    """
    options = ask(["docker", "compose", "run", "--help"], ENGINE_SECS).out
    return ["--pull", "never"] if " --pull " in options else []


def count_gpus(seconds: float = ENGINE_SECS) -> int:
    """The number of NVIDIA GPUs the driver lists; 0 where there is no driver or it does not work."""
    answer = ask(["nvidia-smi", "-L"], seconds)
    if answer.code != 0:
        return 0
    return sum(1 for line in answer.out.splitlines() if line.startswith("GPU "))


def gpu_generations(seconds: float = ENGINE_SECS) -> List[Tuple[str, Tuple[int, int]]]:
    """[(name, (major, minor))] of the GPUs, with their compute capability; [] where the driver does not tell."""
    answer = ask(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"], seconds)
    lines = answer.out.splitlines() if answer.code == 0 else []
    found = [re.match(r"(.+), (\d+)\.(\d+)\s*$", line) for line in lines]
    return [(each.group(1), (int(each.group(2)), int(each.group(3)))) for each in found if each]


def commit(root: str) -> str:
    """The commit of a clone, with "-dirty" where files differ from it; "" where git does not say."""
    command = ["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=40", "--exclude", "*"]
    return ask(command, ENGINE_SECS).out.strip()


def find_python(environ: Mapping[str, str]) -> Tuple[Optional[Interpreter], List[str]]:
    """The first CPython 3.7 or 3.6 that runs and can make the environment.

    Returns:
        (Interpreter or None, reasons): the reasons say, a line each, why candidates were passed over.
    """
    reasons: List[str] = []
    for path in _candidates(environ):
        found = _examine(path)
        if isinstance(found, Interpreter):
            return found, reasons
        reasons.append(f"{path}: {found}")
    return None, reasons


def _candidates(environ):
    """Paths worth asking, cheapest first; uv is asked only when nothing before it was good."""
    for name in ("python3.7", "python3.6"):
        path = shutil.which(name)
        if path:
            yield path
    root = environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    for minor in ("3.7", "3.6"):
        pattern = os.path.join(root, "versions", minor + ".*", "bin", "python")
        for path in sorted(glob.glob(pattern), reverse=True):
            yield path
    if shutil.which("uv"):
        answer = ask(["uv", "python", "find", "3.7"], PYTHON_SECS)
        if answer.code != 0 and ask(["uv", "python", "install", "3.7"], UV_INSTALL_SECS).code == 0:
            answer = ask(["uv", "python", "find", "3.7"], PYTHON_SECS)
        if answer.code == 0 and answer.out.strip():
            yield answer.out.strip().splitlines()[-1]


def _examine(path):
    """An Interpreter when `path` can make the environment, else why it cannot."""
    answer = ask([path, "-c", PYTHON_QUESTIONS], PYTHON_SECS)
    if answer.code != 0:
        # A pyenv shim is there for every version that any folder may select, and fails when none does.
        return "does not run"
    try:
        facts = json.loads(answer.out)
    except ValueError:
        return "gives no sensible answer"
    if facts["minor"] not in ("3.6", "3.7") or not facts["cpython"]:
        return "is not CPython 3.6 or 3.7"
    if not facts["bits64"] or not facts["glibc"]:
        return "is not a 64-bit build for glibc"
    if not facts["venv"]:
        return f"has no venv, ensurepip or ssl module (Debian: python{facts['minor']}-venv)"
    if not facts["headers"]:
        return f"has no Python.h (Debian: python{facts['minor']}-dev)"
    return Interpreter(path, facts["version"], facts["minor"])


def python_problem(reasons: Sequence[str]) -> str:
    """Half a sentence for a machine on which `find_python` found nothing."""
    problem = "no CPython 3.7 or 3.6 was found on the PATH, under pyenv or through uv"
    return f"{problem} ({'; '.join(reasons)})" if reasons else problem
