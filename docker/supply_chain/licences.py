#!/usr/bin/env python3
"""Writes licences.json: the licence that each package of the image's locks names in its own metadata.

`make lock` ends with it. It downloads the locked files, by hash, for each Python, and reads their METADATA (PKG-INFO
of source archives). The bill of materials takes the licences from there; the image's NOTICE reads them from
what is installed, by the same rule. Nothing is looked up elsewhere, and nothing is guessed: a package whose metadata
names no licence has none here, and is told.

pip-licenses was tried in its place (3.5.4, the last for Python 3.6, and 3.5.5, the last for 3.7). It finds the same
licences, but reads only the environment that it is installed into: the locks of three Pythons would need three
environments to be built, and the image a package that nothing of a training needs. It knows no License-Expression,
so that newer packages are "UNKNOWN" to it.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.message import Message
from email.parser import Parser
from typing import Dict

FOLDER = os.path.dirname(os.path.abspath(__file__))
LOCKS = os.path.join(os.path.dirname(FOLDER), "locks")
PATH = os.path.join(FOLDER, "licences.json")
UNKNOWN = "unknown: its metadata names none"

# As in docker/locks/lock.py; some packages ask for more than 3.6.0.
PYTHONS = {"3.6": "3.6.8", "3.7": "3.7.1", "3.8": "3.8.10"}
PLATFORMS = ("manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64")

# {"expression": SPDX}, {"name": words}, or {} where metadata names no licence: as CycloneDX has it.
Licence = Dict[str, str]


def licence(about: Message) -> Licence:
    """The licence that metadata names.

    Classifiers win over free text, which may be a whole licence; of free text only one line is a name.
    """
    if about["License-Expression"]:
        return {"expression": about["License-Expression"]}
    classifiers = [
        line.split(" :: ")[-1]
        for line in about.get_all("Classifier") or []
        if line.startswith("License ::") and line != "License :: OSI Approved"
    ]
    words = " / ".join(classifiers) or (about["License"] or "").strip()
    return {"name": words} if words not in ("", "UNKNOWN") and "\n" not in words else {}


def words(found: Licence) -> str:
    """What `licence` returned, for people."""
    return found.get("expression") or found.get("name") or UNKNOWN


def key(name: str, version: str) -> str:
    """How licences.json names a package: "name==version", the name as registries write it."""
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


def metadata(path: str) -> Message:
    """The metadata of a wheel or a source archive."""
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if re.match(r"[^/]+\.dist-info/METADATA$", name)]
            text = archive.read(name)
    else:
        with tarfile.open(path) as archive:
            (name,) = [name for name in archive.getnames() if re.match(r"[^/]+/PKG-INFO$", name)]
            file = archive.extractfile(name)
            text = file.read() if file else b""
    return Parser().parsestr(text.decode("utf-8", "replace"), headersonly=True)


def download(python: str, folder: str) -> None:
    """Fetches the files of a Python's lock, by hash, into a folder."""
    with open(os.path.join(LOCKS, f"requirements-{python}.lock")) as file:
        text = file.read()
    # pip wants the choice between wheels and sources on the command line where it downloads for another Python.
    from_source = re.findall(r"^--no-binary (\S+)$", text, re.MULTILINE)
    wanted = os.path.join(folder, "wanted.txt")
    with open(wanted, "w") as file:
        file.write(re.sub(r"^--.*\n", "", text, flags=re.MULTILINE))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--requirement", wanted, "--dest", folder]
    command += ["--python-version", PYTHONS[python], "--only-binary", ":all:"]
    for packages in from_source:
        command += ["--no-binary", packages]
    for platform in PLATFORMS:
        command += ["--platform", platform]
    subprocess.check_call(command)
    os.remove(wanted)


def main() -> None:
    """Writes licences.json, and tells which packages name no licence."""
    found: Dict[str, Licence] = {}
    for python in PYTHONS:
        with tempfile.TemporaryDirectory() as folder:
            download(python, folder)
            for path in glob.glob(os.path.join(folder, "*")):
                about = metadata(path)
                found[key(about["Name"], about["Version"])] = licence(about)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    with open(PATH + ".new", "w") as file:
        file.write("{\n" + lines + "\n}\n")
    os.replace(PATH + ".new", PATH)
    print(f"{os.path.basename(PATH)}: {len(found)} packages")
    for name in sorted(name for name in found if not found[name]):
        print(f"{name} names no licence in its metadata.")


if __name__ == "__main__":
    main()
