"""Writes what the image carries that others wrote: the API's commit, each package's version, and licences.

Runs in the image's build: python notice.py SITE_PACKAGES >NOTICE.
"""

import glob
import os
import sys
from email.parser import Parser
from typing import List, Tuple

import licences

from object_detection_patches import source

HEAD = f"""\
tfod-train, licensed under the Apache License 2.0.

This image carries the TensorFlow Object Detection API and slim of tensorflow/models
  https://github.com/tensorflow/models, commit {source.COMMIT}
  Copyright The TensorFlow Authors, licensed under the Apache License 2.0,
changed by the patches in /opt/tfod-train/object_detection_patches, each of which says what it changes and why.
It was fetched as {source.PACKAGE} {source.VERSION} (sha256 {source.SHA256}).

Python packages in /opt/tfod-train/venv; the licence texts they bring lie in their .dist-info folders:
"""


def packages(site_packages: str) -> List[Tuple[str, str, str]]:
    """Sorted (name, version, licence) of the packages installed in a folder."""
    found = []
    for path in glob.glob(os.path.join(site_packages, "*.dist-info", "METADATA")):
        with open(path, encoding="utf-8", errors="replace") as file:
            about = Parser().parse(file, headersonly=True)
        found.append((about["Name"], about["Version"], licences.words(licences.licence(about))))
    return sorted(found, key=lambda package: package[0].lower())


def notice(site_packages: str) -> str:
    """The text of the image's NOTICE."""
    lines = [f"  {name} {version}: {licence}\n" for name, version, licence in packages(site_packages)]
    return HEAD + "".join(lines)


if __name__ == "__main__":
    sys.stdout.write(notice(sys.argv[1]))
