#!/usr/bin/env python3
"""Writes licences.json: the licence that each package of the image's locks names in its own metadata.

`make lock` ends with it. It downloads the locked files, by hash, for each Python, and reads their METADATA (PKG-INFO
of source archives). The bill of materials takes the licences from there; the image's NOTICE reads them from
what is installed, by the same rule. Nothing is looked up elsewhere, and nothing is guessed: a package whose metadata
names no licence has none here, and is told.
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
from email.parser import Parser

FOLDER = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(FOLDER, "licences.json")
UNKNOWN = "unknown: its metadata names none"

# As in lock.py; some packages ask for more than 3.6.0.
PYTHONS = {"3.6": "3.6.8", "3.7": "3.7.1", "3.8": "3.8.10"}
PLATFORMS = ("manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64")


def licence(about):
    """The licence that metadata names, as CycloneDX has it: {"expression": SPDX}, {"name": words}, or {}.

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


def words(found):
    """What `licence` returned, for people."""
    return found.get("expression") or found.get("name") or UNKNOWN


def key(name, version):
    return "{}=={}".format(re.sub(r"[-_.]+", "-", name).lower(), version)


def metadata(path):
    """The metadata of a wheel or a source archive."""
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if re.match(r"[^/]+\.dist-info/METADATA$", name)]
            text = archive.read(name)
    else:
        with tarfile.open(path) as archive:
            (name,) = [name for name in archive.getnames() if re.match(r"[^/]+/PKG-INFO$", name)]
            text = archive.extractfile(name).read()
    return Parser().parsestr(text.decode("utf-8", "replace"), headersonly=True)


def download(python, folder):
    """Fetches the files of a Python's lock, by hash, into a folder."""
    lock = f"requirements-{python}.lock"
    with open(os.path.join(FOLDER, lock)) as file:
        text = file.read()
    # pip wants the choice between wheels and sources on the command line where it downloads for another Python.
    from_source = re.findall(r"^--no-binary (\S+)$", text, re.MULTILINE)
    wanted = os.path.join(folder, "wanted.txt")
    with open(wanted, "w") as file:
        file.write(re.sub(r"^--.*\n", "", text, flags=re.MULTILINE))
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "--requirement",
        wanted,
        "--dest",
        folder,
        "--python-version",
        PYTHONS[python],
        "--only-binary",
        ":all:",
    ]
    for packages in from_source:
        command += ["--no-binary", packages]
    for platform in PLATFORMS:
        command += ["--platform", platform]
    subprocess.check_call(command)
    os.remove(wanted)


def main():
    found = {}
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
