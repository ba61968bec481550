#!/usr/bin/env python3
"""Writes the locks beside this file: `make lock`, or `python3 docker/locks/lock.py`.

Each NAME.in is resolved for each Python together with the lists it is installed with, so that the locks of one Python
always fit together, and written with the hashes of every file of a version (wheels of any platform). The resolver is
uv, which resolves for a Python that is not installed; it comes pinned into a folder that is deleted afterwards.
Versions that are in a lock already are kept where they still fit; `--upgrade` looks for newer ones.
docker/supply_chain/licences.py then reads what the packages of the image are licensed under.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from typing import Dict, List, NamedTuple, Tuple

UV = "uv==0.13.9"
FOLDER = os.path.dirname(os.path.abspath(__file__))
LICENCES = os.path.join(os.path.dirname(FOLDER), "supply_chain", "licences.py")

# The patch release is that of the base image: some packages ask for more than 3.6.0.
PYTHONS = {"3.6": "3.6.8", "3.7": "3.7.1", "3.8": "3.8.10"}

# glibc 2.17, although the base image has 2.27: what resolves for the older one installs everywhere.
PLATFORM = "x86_64-manylinux2014"

# Packages that have no wheel for a Python. Everything else is installed from wheels only.
FROM_SOURCE: Dict[str, List[str]] = {
    "3.6": ["pycocotools", "gast", "termcolor"],
    "3.7": ["pycocotools", "gast"],
    "3.8": [],
}

# Python 3.8 is that of NVIDIA's TensorFlow 1 image, whose TensorFlow is compiled against the numpy beside it
# and loads the protobuf beside it: neither is installed over. base-3.8.lock names stand-ins, for tests without
# that image.
FROM_BASE = {"3.8": ["numpy", "protobuf"]}


class Lock(NamedTuple):
    """A lock to be written: `lists` are resolved together, `installed` names locks that it need not repeat."""

    name: str
    lists: Tuple[str, ...]
    installed: Tuple[str, ...]


LOCKS = (
    Lock("requirements", ("requirements",), ()),
    Lock("build", ("build",), ()),
    Lock("tensorflow", ("requirements", "build", "tensorflow"), ("requirements", "build")),
    Lock("test", ("requirements", "build", "tensorflow", "test"), ("requirements", "build", "tensorflow")),
    Lock("lint", ("requirements", "build", "tensorflow", "lint"), ("requirements", "build", "tensorflow")),
)
# No registry has a TensorFlow 1.15 for Python 3.8.
LOCKS_WITHOUT_TENSORFLOW = (
    Lock("base", ("base",), ()),
    Lock("requirements", ("requirements",), ("base",)),
    Lock("build", ("build",), ("base",)),
    Lock("test", ("requirements", "build", "test"), ("base", "requirements", "build")),
    Lock("lint", ("requirements", "build", "lint"), ("base", "requirements", "build")),
)


def locks_of(python: str) -> List[Lock]:
    """The locks of a Python ("3.6"), in the order in which they are written. No ruff runs on 3.6."""
    locks = LOCKS_WITHOUT_TENSORFLOW if python in FROM_BASE else LOCKS
    return [each for each in locks if (each.name, python) != ("lint", "3.6")]


class Resolver:
    """uv in an environment of its own, for one Python at a time."""

    def __init__(self, scratch: str):
        self._output = os.path.join(scratch, "resolved.txt")
        binaries = os.path.join(scratch, "venv", "bin")
        venv.create(os.path.join(scratch, "venv"), with_pip=True)
        self.python = os.path.join(binaries, "python")
        self._uv = os.path.join(binaries, "uv")
        subprocess.check_call([self.python, "-m", "pip", "install", "--quiet", UV])

    def resolve(self, python: str, lists: List[str], constraints: str) -> Dict[str, str]:
        """Resolves lists together.

        Args:
            python: "3.6", "3.7" or "3.8".
            lists: names of .in files.
            constraints: lock lines whose versions are kept where they fit.
        Returns:
            {package: its lock lines}, in the order of their names.
        """
        with open(self._output, "w") as file:
            file.write(constraints)
        command = [self._uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--generate-hashes"]
        command += ["--no-emit-index-url", "--no-emit-find-links"]
        command += ["--python-version", PYTHONS[python], "--python-platform", PLATFORM, "--output-file", self._output]
        command += ["--only-binary", ":all:"]
        for package in FROM_SOURCE[python]:
            command += ["--no-binary", package]
        # From the folder, so that no path of this machine gets into a message; --no-config for the same reason.
        command += ["--no-config"] + [f"{name}.in" for name in lists]
        subprocess.check_call(command, cwd=FOLDER)
        with open(self._output) as file:
            return split(file.read())


def split(text: str) -> Dict[str, str]:
    """Splits locks, one after the other, into {package: its lines}; headers belong to no package."""
    text = re.sub(r"^(?:(?:#|--).*)?\n", "", text, flags=re.MULTILINE)
    entries = re.findall(r"^[A-Za-z0-9].*\n(?:[^A-Za-z0-9].*\n)*", text, re.MULTILINE)
    return {_package(entry): entry for entry in entries}


def _package(entry: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", entry, maxsplit=1)[0].lower()


def header(name: str, python: str) -> str:
    """The comment and the options on top of a lock; pip reads the options."""
    title = f"# Python {python}, from {name}.in by `make lock`: do not edit."
    lines = [title, "--only-binary :all:"]
    if name in ("requirements", "tensorflow") and FROM_SOURCE[python]:
        # Both say the same, because pip forgets the exceptions of one file at `:all:` in the next.
        lines += [
            "# No wheel for this Python: built from the hashed source archive.",
            f"--no-binary {','.join(FROM_SOURCE[python])}",
        ]
    return "\n".join(lines) + "\n\n"


def read(path: str) -> str:
    """The text of a lock, "" where there is none yet."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def lock(resolver: Resolver, python: str, upgrade: bool) -> None:
    """Writes the locks of one Python; `upgrade` keeps no version that nothing asks for."""
    # One resolution of everything, the wish of each following one: the same package, the same version.
    locks = locks_of(python)
    paths = {each.name: os.path.join(FOLDER, f"{each.name}-{python}.lock") for each in locks}
    before = "".join(split("".join(read(path) for path in paths.values())).values())
    lists = sorted({name for each in locks if each.name != "base" for name in each.lists})
    everything = "".join(resolver.resolve(python, lists, "" if upgrade else before).values())
    written: Dict[str, Dict[str, str]] = {}
    for each in locks:
        resolved = resolver.resolve(python, list(each.lists), everything)
        known = {package for other in each.installed for package in written[other]}
        written[each.name] = {package: entry for package, entry in resolved.items() if package not in known}
        temporary = paths[each.name] + ".new"
        with open(temporary, "w") as file:
            file.write(header(each.name, python))
            file.writelines(entry for _, entry in sorted(written[each.name].items()))
        os.replace(temporary, paths[each.name])
        print(f"{os.path.basename(paths[each.name])}: {len(written[each.name])} packages")


def main() -> None:
    """Writes every lock, and licences.json after them."""
    parser = argparse.ArgumentParser(description="Write docker/locks/*.lock from docker/locks/*.in.")
    parser.add_argument("--upgrade", action="store_true", help="newer versions of what is not pinned")
    arguments = parser.parse_args()
    if sys.version_info < (3, 8):
        sys.exit(
            f"The resolver needs Python 3.8 or newer, this is {sys.version_info[0]}.{sys.version_info[1]}. Run it as, "
            "for example, `python3.11 docker/locks/lock.py`."
        )
    with tempfile.TemporaryDirectory() as scratch:
        resolver = Resolver(scratch)
        for python in PYTHONS:
            lock(resolver, python, arguments.upgrade)
        subprocess.check_call([resolver.python, LICENCES])


if __name__ == "__main__":
    main()
