"""The virtual environment .venv: locked packages, and the API fetched, verified and patched into .venv/api.

It is made once and then recognised by a stamp, written after each layer that is complete. What was killed
half-way has no stamp and is made again from nothing; two at once wait for each other.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import time
from typing import IO, Mapping, Optional, Sequence

from common import files
from launcher import LaunchError, host, say, where

# Part of the stamp: raise it when the way of installing changes, so that old environments are made anew.
RECIPE = 1
SPACE_NEEDED = 3 * 10**9
LOG_LINES_SHOWN = 15
KEPT_WHEN_EMPTIED = ("lock", "install.log")

# Locks that are installed only where they are needed, and the lines that say so.
EXTRAS = {"test": "Packages of the tests", "lint": "Tools of make lint"}

# Both import what their package compiled, and the second also proves that the patched API is found.
SMOKE_TEST = "import pycocotools.mask, tensorflow, object_detection.model_lib"


def ensure(root: str, environ: Mapping[str, str], extra: Optional[str] = None) -> str:
    """Makes the environment under `root` where it is missing or out of date.

    Args:
        root: the repository's folder.
        environ: the user's environment (pip's own variables and configuration stay in force).
        extra: one of EXTRAS, whose packages are installed too. "lint" has none on Python 3.6.

    Returns:
        The path of the environment's Python.

    Raises:
        LaunchError: code 3, with the last lines of the log when an install step failed.
    """
    python = os.path.join(root, ".venv", "bin", "python")
    if _missing(root, extra):
        os.makedirs(os.path.join(root, ".venv"), exist_ok=True)
        with _alone(root) as lock:
            # Asked again: the one we waited for may have done it.
            missing = _missing(root, extra)
            if missing:
                _make(root, environ, missing, lock)
    return python


def is_current(root: str) -> bool:
    """Whether `ensure` would have nothing to do."""
    return not _missing(root)


def minor_version(root: str) -> str:
    """The Python of the environment that `ensure` made, "3.7"."""
    return _read_stamp(root)["minor"]


def _make(root, environ, missing, lock):
    venv = os.path.join(root, ".venv")
    started = time.time()
    with open(os.path.join(venv, "install.log"), "wb") as log:
        stages = Stages(environ, log, lock, os.path.relpath(log.name, root))
        if "packages" in missing:
            _check_space(root)
            interpreter = _interpreter(environ)
            version = interpreter.version
            say(f"Setting up .venv with Python {version} (once; details in .venv/install.log).")
            _empty(venv)
            stages.run("Virtual environment", [interpreter.path, "-m", "venv", venv])
            _install_packages(root, stages, interpreter.minor)
        else:
            say("Bringing .venv up to date (details in .venv/install.log).")
        minor = _minor(venv)
        _stamp(root, packages=_packages_hash(root, minor), minor=minor)
        if "api" in missing:
            _install_api(root, stages, minor)
            _stamp(root, api=_api_hash(root))
        for extra in sorted(missing.intersection(EXTRAS)):
            if _has_lock(extra, minor):
                _pip(root, stages, EXTRAS[extra], [extra], minor)
                _stamp(root, **{extra: _locks_hash(root, [extra], minor)})
    say(f"Done in {time.time() - started:.0f} s.")


def _interpreter(environ):
    """A Python to build with, and a compiler and headers for the one package that has no wheel."""
    problem = where.platform_problem()
    interpreter, reasons = (None, []) if problem else host.find_python(environ)
    problem = problem or (None if interpreter else host.python_problem(reasons))
    if problem:
        raise LaunchError(f"A virtual environment cannot be made: {problem}.", where.PYTHON_WAYS)
    compiler = (environ.get("CC") or "gcc").split()[0]
    if shutil.which(compiler) is None:
        raise LaunchError(
            f"There is no C compiler ({compiler}), and pycocotools has to be compiled.",
            "Install gcc (Debian, Ubuntu: apt-get install gcc libc6-dev), or use Docker: RUN_IN=docker.",
        )
    return interpreter


def _install_packages(root, stages, minor):
    _pip(root, stages, "Build tools", ["build"], minor)
    # The build tools are in place by then, and building against the pinned numpy is what is wanted.
    packages = ["tensorflow", "requirements"]
    _pip(root, stages, "TensorFlow and packages", packages, minor, "--no-build-isolation")
    # pip's own compiling is serial, and the first imports would pay for what it leaves out.
    stages.run(
        "Compiling to bytecode",
        [stages.python, "-m", "compileall", "-q", "-j", "0", _site_packages(root, minor)],
        # Some packages carry Python 2 files on purpose.
        accept=(0, 1),
    )


def _install_api(root, stages, minor):
    """Everything happens in a folder beside it; .venv/api is complete or not there."""
    api = os.path.join(root, ".venv", "api")
    new = api + ".new"
    patches = [stages.python, "-m", "object_detection_patches"]
    shutil.rmtree(new, ignore_errors=True)
    stages.run("Object Detection API", patches + ["fetch", new], cwd=root)
    stages.run("Checking it file by file", patches + ["verify", new], cwd=root)
    stages.run("Patching it", patches + ["apply", new], cwd=root)
    shutil.rmtree(api, ignore_errors=True)
    os.rename(new, api)
    # A path relative to site-packages, so that the clone can be moved.
    pth = os.path.join(_site_packages(root, minor), "object_detection_api.pth")
    files.write_text(pth, os.path.relpath(api, os.path.dirname(pth)) + "\n")
    stages.run("Compiling it", [stages.python, "-m", "compileall", "-q", "-j", "0", api], accept=(0, 1))
    stages.run("First import", [stages.python, "-c", SMOKE_TEST], cwd=root)


def _pip(root, stages, title, locks, minor, *options):
    command = [stages.python, "-m", "pip", "install", "--require-hashes", "--no-compile", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off"]
    command += options
    for name in locks:
        command += ["-r", _lock_path(root, name, minor)]
    stages.run(title, command, cwd=root)


class Stages:
    """Runs install steps: one line each with its seconds on the screen, their own output in the log.

    Args:
        environ: the user's environment.
        log: open for bytes, in the environment's folder.
        lock: the open lock file.
        log_name: the log's path as people are shown it.
    """

    def __init__(self, environ: Mapping[str, str], log: IO[bytes], lock: IO[str], log_name: str):
        self.environ = dict(environ)
        # A user's default of `pip install --user` makes no sense in a virtual environment and fails there.
        self.environ["PIP_USER"] = "0"
        # Interpreters built elsewhere (uv's) name the compiler of the machine that built them.
        self.environ.setdefault("CC", "gcc")
        for name in ("PYTHONPATH", "PYTHONHOME"):
            self.environ.pop(name, None)
        self.log = log
        self.lock = lock
        self.log_name = log_name
        self.python = os.path.join(os.path.dirname(log.name), "bin", "python")

    def run(self, title: str, command: Sequence[str], cwd: Optional[str] = None, accept: Sequence[int] = (0,)) -> None:
        """Runs one step.

        Args:
            title: what people see of it.
            command: the program and its arguments.
            cwd: folder to run in; None for this process's.
            accept: exit codes that are no failure.

        Raises:
            LaunchError: it failed; with the last lines of the log.
        """
        say(f"  {title:<28}", end="")
        started = time.time()
        self.log.write(f"\n$ {' '.join(command)}\n".encode("utf-8"))
        self.log.flush()
        # The lock's descriptor goes along: a step that outlives a killed launcher still holds the lock, so
        # the next one does not build over it.
        code = subprocess.call(
            command,
            cwd=cwd,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            pass_fds=(self.lock.fileno(),),
        )
        if code not in accept:
            say("failed")
            raise LaunchError(
                f'The step "{title}" failed; the last lines of {self.log_name}:\n{last_lines(self.log.name)}',
                "Correct what they name (network, package index, disk) and start again: it begins cleanly.",
            )
        say(f"{time.time() - started:4.0f} s")


def _missing(root, extra=None):
    """Which layers are missing or out of date: of "packages", "api" and the one of EXTRAS that is asked for."""
    stamp = _read_stamp(root)
    minor = stamp.get("minor")
    usable = minor and os.access(os.path.join(root, ".venv", "bin", "python"), os.X_OK)
    if not usable or stamp.get("packages") != _packages_hash(root, minor):
        return {"packages", "api"} | ({extra} if extra else set())
    missing = set()
    if stamp.get("api") != _api_hash(root):
        missing.add("api")
    if extra and _has_lock(extra, minor) and stamp.get(extra) != _locks_hash(root, [extra], minor):
        missing.add(extra)
    return missing


def _packages_hash(root, minor):
    return _locks_hash(root, ["build", "tensorflow", "requirements"], minor)


def _has_lock(extra, minor):
    """Nothing that `make lint` runs is for Python 3.6; every other lock has to be there."""
    return (extra, minor) != ("lint", "3.6")


def _locks_hash(root, names, minor):
    return _hash_files(root, [_lock_path(root, name, minor) for name in names])


def _api_hash(root):
    """Covers every source and data file of the patches, so that editing one makes the API anew."""
    paths = []
    for folder, folders, found in os.walk(os.path.join(root, "object_detection_patches")):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        paths += [os.path.join(folder, name) for name in sorted(found) if not name.endswith(".pyc")]
    return _hash_files(root, paths)


def _hash_files(root, paths):
    digest = hashlib.sha256(f"recipe {RECIPE}\n".encode("utf-8"))
    for path in paths:
        try:
            with open(path, "rb") as source:
                content = source.read()
        except FileNotFoundError:
            raise LaunchError(
                f"{os.path.relpath(path, root)} is missing, and the environment is made from it.",
                f"Restore it: git checkout -- {os.path.relpath(path, root)}",
            ) from None
        digest.update(f"{os.path.relpath(path, root)} {len(content)}\n".encode("utf-8"))
        digest.update(content)
    return digest.hexdigest()


def _lock_path(root, name, minor):
    return os.path.join(root, "docker", "locks", f"{name}-{minor}.lock")


def _site_packages(root, minor):
    return os.path.join(root, ".venv", "lib", "python" + minor, "site-packages")


def _minor(venv):
    (folder,) = [name for name in os.listdir(os.path.join(venv, "lib")) if name.startswith("python3.")]
    return folder[len("python") :]


def _stamp_path(root):
    return os.path.join(root, ".venv", "stamp.json")


def _read_stamp(root):
    try:
        with open(_stamp_path(root)) as source:
            return json.load(source)
    except (OSError, ValueError):
        return {}


def _stamp(root, **layers):
    stamp = _read_stamp(root)
    stamp.update(layers)
    files.write_text(_stamp_path(root), json.dumps(stamp, indent=1, sort_keys=True) + "\n")


def _empty(venv):
    """Removes everything but the lock and the log; the stamp first, so that being killed here is harmless."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(venv, "stamp.json"))
    for name in os.listdir(venv):
        path = os.path.join(venv, name)
        if name in KEPT_WHEN_EMPTIED:
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


@contextlib.contextmanager
def _alone(root):
    """Holds .venv/lock, waiting for whoever holds it, and yields the open file."""
    with open(os.path.join(root, ".venv", "lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another setup is at work in .venv; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _check_space(root):
    free = shutil.disk_usage(root).free
    if free < SPACE_NEEDED:
        raise LaunchError(
            f"The environment needs about {SPACE_NEEDED / 1e9:.0f} GB, and {root} has {free / 1e9:.1f} GB free.",
            "Free some space, or clone onto a larger disk.",
        )


def last_lines(path: str) -> str:
    """The end of a log, indented, for an error message."""
    with open(path, errors="replace") as log:
        lines = [line.rstrip() for line in log if line.strip()]
    return "\n".join("    " + line for line in lines[-LOG_LINES_SHOWN:])
