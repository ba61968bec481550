"""Writes what the image carries that others wrote: the API's commit, each package's version, and licences.

Runs in the image's build: python notice.py SITE_PACKAGES >NOTICE.
"""

import glob
import os
import sys
from email.parser import Parser

import licences

from object_detection_patches import source

HEAD = """\
tfod-train, licensed under the Apache License 2.0.

This image carries the TensorFlow Object Detection API and slim of tensorflow/models
  https://github.com/tensorflow/models, commit {commit}
  Copyright The TensorFlow Authors, licensed under the Apache License 2.0,
changed by the patches in /opt/tfod-train/object_detection_patches, each of which says what it changes and why.
It was fetched as {package} {version} (sha256 {sha256}).

Python packages in /opt/tfod-train/venv; the licence texts they bring lie in their .dist-info folders:
"""


def packages(site_packages):
    """Sorted (name, version, licence) of the packages installed in a folder."""
    found = []
    for path in glob.glob(os.path.join(site_packages, "*.dist-info", "METADATA")):
        with open(path, encoding="utf-8", errors="replace") as file:
            about = Parser().parse(file, headersonly=True)
        found.append((about["Name"], about["Version"], licences.words(licences.licence(about))))
    return sorted(found, key=lambda package: package[0].lower())


def notice(site_packages):
    lines = ["  {} {}: {}".format(*package) for package in packages(site_packages)]
    return (
        HEAD.format(commit=source.COMMIT, package=source.PACKAGE, version=source.VERSION, sha256=source.SHA256)
        + "\n".join(lines)
        + "\n"
    )


if __name__ == "__main__":
    sys.stdout.write(notice(sys.argv[1]))
