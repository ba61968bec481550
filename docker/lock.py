#!/usr/bin/env python3
"""Writes the locks beside this file: `make lock`, or `python3 docker/lock.py`.

Each docker/NAME.in is resolved for each Python together with the lists it is installed with, so that the
locks of one Python always fit together, and written with the hashes of every file of a version (wheels of any
platform). The resolver is uv, which resolves for a Python that is not installed; it comes pinned into a
folder that is deleted afterwards. Versions that are in a lock already are kept where they still fit;
`--upgrade` looks for newer ones. licences.py then reads what the packages of the image are licensed under.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv

UV = "uv==0.13.9"
FOLDER = os.path.dirname(os.path.abspath(__file__))

# The patch release is that of the base image: some packages ask for more than 3.6.0.
PYTHONS = {"3.6": "3.6.8", "3.7": "3.7.1", "3.8": "3.8.10"}

# glibc 2.17, although the base image has 2.27: what resolves for the older one installs everywhere.
PLATFORM = "x86_64-manylinux2014"

# Packages that have no wheel for a Python. Everything else is installed from wheels only.
FROM_SOURCE = {"3.6": ["pycocotools", "gast", "termcolor"], "3.7": ["pycocotools", "gast"], "3.8": []}

# Python 3.8 is that of NVIDIA's TensorFlow 1 image, whose TensorFlow is compiled against the numpy beside it
# and loads the protobuf beside it: neither is installed over. base-3.8.lock names stand-ins, for tests without
# that image.
FROM_BASE = {"3.8": ["numpy", "protobuf"]}

# (lock name, lists resolved together, locks installed before it, whose packages it need not repeat)
LOCKS = [
    ("requirements", ["requirements"], []),
    ("build", ["build"], []),
    ("tensorflow", ["requirements", "build", "tensorflow"], ["requirements", "build"]),
    ("test", ["requirements", "build", "tensorflow", "test"], ["requirements", "build", "tensorflow"]),
]
# No registry has a TensorFlow 1.15 for Python 3.8.
LOCKS_WITHOUT_TENSORFLOW = [
    ("base", ["base"], []),
    ("requirements", ["requirements"], ["base"]),
    ("build", ["build"], ["base"]),
    ("test", ["requirements", "build", "test"], ["base", "requirements", "build"]),
]


def resolve(uv, python, lists, constraints, upgrade, scratch):
    """Returns {package: its lock lines} for the lists together, in the order of their names."""
    output = os.path.join(scratch, "resolved.txt")
    with open(output, "w") as file:
        file.write("" if upgrade else constraints)
    command = [
        uv,
        "pip",
        "compile",
        "--quiet",
        "--no-header",
        "--no-annotate",
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-emit-find-links",
        "--python-version",
        PYTHONS[python],
        "--python-platform",
        PLATFORM,
        "--output-file",
        output,
    ]
    command += ["--only-binary", ":all:"]
    for package in FROM_SOURCE[python]:
        command += ["--no-binary", package]
    # From the folder, so that no path of this machine gets into a message; --no-config for the same reason.
    command += ["--no-config"] + [f"{name}.in" for name in lists]
    subprocess.check_call(command, cwd=FOLDER)
    with open(output) as file:
        return split(file.read())


def split(text):
    """Splits locks, one after the other, into {package: its lines}; headers belong to no package."""
    text = re.sub(r"^(?:(?:#|--).*)?\n", "", text, flags=re.MULTILINE)
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    return {re.match(r"[A-Za-z0-9._-]+", entry).group().lower(): entry for entry in entries if entry[:1].isalnum()}


def header(name, python):
    """The comment and the options on top of a lock; pip reads the options."""
    title = f"# Python {python}, from {name}.in by `make lock`: do not edit."
    lines = [title, "--only-binary :all:"]
    if name in ("requirements", "tensorflow") and FROM_SOURCE[python]:
        # Both say the same, because pip forgets the exceptions of one file at `:all:` in the next.
        lines += [
            "# No wheel for this Python: built from the hashed source archive.",
            "--no-binary {}".format(",".join(FROM_SOURCE[python])),
        ]
    return "\n".join(lines) + "\n\n"


def lock(uv, python, upgrade, scratch):
    """Writes the locks of one Python."""
    # One resolution of everything, the wish of each following one: the same package, the same version.
    locks = LOCKS_WITHOUT_TENSORFLOW if python in FROM_BASE else LOCKS
    paths = {name: os.path.join(FOLDER, f"{name}-{python}.lock") for name, _, _ in locks}
    before = "".join(open(path).read() for path in paths.values() if os.path.exists(path))
    everything = resolve(uv, python, locks[-1][1], "".join(split(before).values()), upgrade, scratch)
    written = {}
    for name, lists, installed in locks:
        resolved = resolve(uv, python, lists, "".join(everything.values()), False, scratch)
        known = set().union(*(written[other] for other in installed))
        written[name] = {package: entry for package, entry in resolved.items() if package not in known}
        temporary = paths[name] + ".new"
        with open(temporary, "w") as file:
            file.write(header(name, python))
            file.writelines(entry for _, entry in sorted(written[name].items()))
        os.replace(temporary, paths[name])
        print(f"{os.path.basename(paths[name])}: {len(written[name])} packages")


def main():
    parser = argparse.ArgumentParser(description="Write docker/*.lock from docker/*.in.")
    parser.add_argument("--upgrade", action="store_true", help="newer versions of what is not pinned")
    arguments = parser.parse_args()
    if sys.version_info < (3, 8):
        sys.exit(
            "The resolver needs Python 3.8 or newer, this is {}.{}. Run it as, for example, "
            "`python3.11 docker/lock.py`.".format(*sys.version_info[:2])
        )
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(os.path.join(scratch, "venv"), with_pip=True)
        binaries = os.path.join(scratch, "venv", "bin")
        subprocess.check_call([os.path.join(binaries, "python"), "-m", "pip", "install", "--quiet", UV])
        for python in PYTHONS:
            lock(os.path.join(binaries, "uv"), python, arguments.upgrade, scratch)
        subprocess.check_call([os.path.join(binaries, "python"), os.path.join(FOLDER, "licences.py")])


if __name__ == "__main__":
    main()
