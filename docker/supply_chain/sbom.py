#!/usr/bin/env python3
"""Prints a software bill of materials (CycloneDX 1.4, JSON) of what the image adds to its base: `make sbom`.

It is made from the locks, so it names what is installed, with the sha256 of every file that may be, and it is
the same for the same locks. Licences are those that the packages' own metadata names (licences.py); one that names
none is told. What the base image brings is its maker's to list.

cyclonedx-bom was tried in its place (3.11.7, the last for Python 3.6 and 3.7). From a lock it gives the same names,
versions and hashes, but no licence, neither the patched API nor what depends on what, and each time another serial
number, time and random reference. From an environment it gives licences, but no hash, and it lists itself and whatever
else is there.
"""

import argparse
import json
import os
import re
import sys
import uuid
from typing import Any, Dict, List, Tuple

from object_detection_patches import source
from tfod_train import __version__

FOLDER = os.path.dirname(os.path.abspath(__file__))
LOCKS = os.path.join(os.path.dirname(FOLDER), "locks")

# Python of the base: its image.
BASES = {
    "3.6": "tensorflow/tensorflow:1.15.0-gpu-py3",
    "3.7": "a base with Python 3.7 of your own",
    "3.8": "nvcr.io/nvidia/tensorflow:23.03-tf1-py3",
}

APACHE = [{"license": {"id": "Apache-2.0"}}]


def packages(lock: str) -> List[Tuple[str, str, List[str]]]:
    """[(name, version, [sha256, …])] of a lock's text."""
    found = []
    # After the header: a split at the beginning of lines alone would need Python 3.7.
    for entry in re.split(r"\n(?=[A-Za-z0-9])", lock)[1:]:
        ((name, version),) = re.findall(r"\A([A-Za-z0-9._-]+)==([^\s;\\]+)", entry)
        found.append((name, version, re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)))
    return found


def licences() -> Dict[str, Dict[str, str]]:
    """{"name==version": {"expression": …} or {"name": …}, or {} where the metadata names none}."""
    with open(os.path.join(FOLDER, "licences.json")) as file:
        return json.load(file)


def component(name: str, version: str, hashes: List[str], licence: Dict[str, str]) -> Dict[str, Any]:
    """A package of the lock; without the key "licenses" where `licence` is {}."""
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    entry: Dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    entry["hashes"] = [{"alg": "SHA-256", "content": digest} for digest in hashes]
    if licence:
        entry["licenses"] = [licence] if "expression" in licence else [{"license": licence}]
    return entry


def api() -> Dict[str, Any]:
    """The Object Detection API: its commit, and the file it comes in."""
    return {
        "type": "library",
        "bom-ref": "object-detection-api",
        "name": "tensorflow/models research/object_detection",
        "version": source.COMMIT,
        "purl": f"pkg:github/tensorflow/models@{source.COMMIT}#research",
        "licenses": APACHE,
        "modified": True,
        "hashes": [{"alg": "SHA-256", "content": source.SHA256}],
        "externalReferences": [
            {"type": "distribution", "url": f"https://pypi.org/project/{source.PACKAGE}/{source.VERSION}/"}
        ],
    }


def sbom(python: str) -> Dict[str, Any]:
    """The bill; `python` is that of the base image: "3.6", "3.7" or "3.8"."""
    known = licences()
    with open(os.path.join(LOCKS, f"requirements-{python}.lock")) as file:
        locked = packages(file.read())
    components = [component(name, version, hashes, known[f"{name}=={version}"]) for name, version, hashes in locked]
    components.append(api())
    image = {
        "type": "container",
        "bom-ref": "tfod-train",
        "name": "tfod-train",
        "version": __version__,
        "description": f"on {BASES[python]}",
        "licenses": APACHE,
    }
    content = json.dumps([image, components], sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.4",
        "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "metadata": {"component": image},
        "components": components,
        "dependencies": [{"ref": "tfod-train", "dependsOn": [each["bom-ref"] for each in components]}],
    }


def main() -> None:
    """Prints the bill, and on stderr the packages whose metadata names no licence."""
    parser = argparse.ArgumentParser(description="Print a CycloneDX bill of materials of the image.")
    parser.add_argument("--python", choices=sorted(BASES), default="3.6", help="the Python of the base image")
    bill = sbom(parser.parse_args().python)
    print(json.dumps(bill, indent=1))
    for each in bill["components"]:
        if "licenses" not in each:
            print(f"{each['name']} {each['version']} names no licence in its metadata.", file=sys.stderr)


if __name__ == "__main__":
    main()
