#!/usr/bin/env python3
"""Prints a software bill of materials (CycloneDX 1.4, JSON) of what the image adds to its base: `make sbom`.

It is made from the locks, so it names what is installed, with the sha256 of every file that may be, and it is
the same for the same locks. What the base image brings is its maker's to list. Licences are in the image:
/opt/tfod-train/NOTICE.
"""
import argparse
import json
import os
import re
import sys
import uuid

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(FOLDER))
from object_detection_patches import source  # noqa: E402  (a script, whose folder is no package)

# Python of the base: its image.
BASES = {"3.6": "tensorflow/tensorflow:1.15.0-gpu-py3", "3.8": "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"}


def packages(lock):
    """[(name, version, [sha256, …])] of a lock's text."""
    entries = re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)[1:]
    found = []
    for entry in entries:
        name, version = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", entry).groups()
        found.append((name, version, re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)))
    return found


def component(name, version, hashes):
    purl = "pkg:pypi/{}@{}".format(re.sub(r"[-_.]+", "-", name).lower(), version)
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in hashes]}


def api():
    """The Object Detection API: its commit, and the file it comes in."""
    return {"type": "library", "bom-ref": "object-detection-api",
            "name": "tensorflow/models research/object_detection",
            "version": source.COMMIT, "purl": "pkg:github/tensorflow/models@{}#research".format(source.COMMIT),
            "licenses": [{"license": {"id": "Apache-2.0"}}], "modified": True,
            "hashes": [{"alg": "SHA-256", "content": source.SHA256}],
            "externalReferences": [{"type": "distribution", "url": "https://pypi.org/project/{}/{}/".format(
                source.PACKAGE, source.VERSION)}]}


def sbom(python):
    """The bill as a dict. `python`: "3.6" or "3.8", that of the base image."""
    with open(os.path.join(FOLDER, "requirements-{}.lock".format(python))) as file:
        components = [component(*package) for package in packages(file.read())] + [api()]
    image = {"type": "container", "bom-ref": "tfod-train", "name": "tfod-train",
             "description": "on {}".format(BASES[python]), "licenses": [{"license": {"id": "Apache-2.0"}}]}
    content = json.dumps([image, components], sort_keys=True)
    return {"bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1,
            "serialNumber": "urn:uuid:{}".format(uuid.uuid5(uuid.NAMESPACE_URL, content)),
            "metadata": {"component": image}, "components": components,
            "dependencies": [{"ref": "tfod-train", "dependsOn": [each["bom-ref"] for each in components]}]}


def main():
    parser = argparse.ArgumentParser(description="Print a CycloneDX bill of materials of the image.")
    parser.add_argument("--python", choices=sorted(BASES), default="3.6", help="the Python of the base image")
    print(json.dumps(sbom(parser.parse_args().python), indent=1))


if __name__ == "__main__":
    main()
