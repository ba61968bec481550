"""run.json: what a run was made of and how it ended, enough to repeat it; and what tells two runs apart.

python -m trainers.manifest diff RUN_A RUN_B
"""

import argparse
import importlib.util
import json
import os
import platform
import shlex
import subprocess
import sys
import time

from google.protobuf import text_format

from object_detection_patches import source, tree
from object_detection_patches.patches import PATCHES
from trainers import gpus
from trainers.errors import SETTINGS_REFUSED, Refused
from trainers.files import read_json, write_json

NAME = "run.json"
BUILD = "build.json"  # beside the code in an image: what it was built from
PROJECT_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What differs between any two runs, the same as they may be.
ALWAYS_DIFFERS = ("started", "ended", "earlier", "host", "command", "settings.run_dir")
ABSENT = "-"


def start(folder, settings, config, dataset, devices, config_path, changes, start_step):
    """Writes run.json as a run starts; what it held of earlier starts in this RUN_DIR goes to `earlier`.

    Args:
        config: the effective TrainEvalPipelineConfig.
        config_path: the file it was made from, by `changes` (list of str).
        start_step: the step the run goes on from.
    """
    path = os.path.join(folder, NAME)
    write_json(
        path,
        {
            "settings": json.loads(settings.json(exclude={"tfod_image_id"})),
            "config_file": config_path,
            "config_changes": changes,
            "config": text_format.MessageToString(config).splitlines(),
            "dataset": _dataset(dataset),
            "devices": dict(_driver_and_names(), kind=devices.kind, count=devices.count, used=list(devices.names)),
            "api": api(),
            "versions": versions(),
            "code": code(),
            "image_id": settings.tfod_image_id,
            "host": {"machine": platform.platform(), "cpus": os.cpu_count(), "container": gpus.in_container()},
            "command": " ".join(shlex.quote(argument) for argument in sys.argv),
            "earlier": _earlier(read_json(path)),
            "start_step": start_step,
            "started": now(),
            "outcome": "running",
        },
    )


def finish(folder, outcome, step, exit_code):
    """Adds the end of a run to run.json: outcome is a word or two, step the last finished one."""
    path = os.path.join(folder, NAME)
    manifest = read_json(path) or {}
    manifest.update(outcome=outcome, step=step, exit_code=exit_code, ended=now())
    write_json(path, manifest)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def versions():
    """Version of Python and of every installed package, by name in lower case."""
    import pkg_resources

    found = {package.project_name.lower(): package.version for package in pkg_resources.working_set}
    return dict(found, python=platform.python_version())


def api():
    """The API that is imported here: its commit, the patches in it, and how many of its files are neither's.

    `commit` is that of the package we fetch; a checkout of the user's own has files that differ.
    """
    spec = importlib.util.find_spec("object_detection")
    if spec is None or not spec.submodule_search_locations:
        return None
    root = os.path.dirname(list(spec.submodule_search_locations)[0])
    record = read_json(os.path.join(root, tree.RECORD)) or {}
    patches = record.get("patches", [])
    return {
        "commit": source.COMMIT,
        "patches": patches,
        "patches_left_out": [name for name in PATCHES if name not in patches],
        "changed_files": sorted(set(source.changed_files(root)) - set(record.get("files", {}))),
    }


def code():
    """What this code is: the commit of its checkout, or what its image was built from; None where neither is known."""
    built = read_json(os.path.join(PROJECT_DIR, BUILD))
    if built is not None or not os.path.exists(os.path.join(PROJECT_DIR, ".git")):
        return built
    try:
        commit = _git("rev-parse", "HEAD").strip()
        return {"commit": commit, "changed": sorted(line[3:] for line in _git("status", "--porcelain").splitlines())}
    except (OSError, subprocess.CalledProcessError):
        return None


def differences(one, other, everything=False):
    """What tells two manifests apart.

    Args:
        one, other: dicts as in run.json.
        everything: also what differs between any two runs (times, host, command).

    Returns:
        Sorted list of (dotted name, value in one, value in the other) as texts; ABSENT where there is none.
    """
    flat_one, flat_other = _flat(one), _flat(other)
    names = sorted(
        name for name in set(flat_one) | set(flat_other) if flat_one.get(name, ABSENT) != flat_other.get(name, ABSENT)
    )
    return [
        (name, flat_one.get(name, ABSENT), flat_other.get(name, ABSENT))
        for name in names
        if everything or not any(name == skipped or name.startswith(skipped + ".") for skipped in ALWAYS_DIFFERS)
    ]


def _git(*arguments):
    return subprocess.check_output(
        ["git", "-C", PROJECT_DIR] + list(arguments), stderr=subprocess.DEVNULL, universal_newlines=True, timeout=10
    )


def _dataset(dataset):
    splits = dataset.description["splits"]
    return {
        "name": dataset.name,
        "folder": dataset.folder,
        "classes": list(dataset.classes),
        "shards": {name: split["shards"] for name, split in splits.items()},
    }


def _driver_and_names():
    host = gpus.look()
    return {"driver": host.driver, "gpus": [gpu.name for gpu in host.gpus]}


def _earlier(manifest):
    """One entry for each earlier start in this RUN_DIR: when, from which step to which, and how it ended."""
    if not manifest:
        return []
    kept = ("started", "ended", "start_step", "step", "outcome", "exit_code", "code", "devices")
    return manifest.get("earlier", []) + [{name: manifest[name] for name in kept if name in manifest}]


def _flat(value, prefix=""):
    """Texts of all leaves of a JSON value by dotted name; the effective config by the path of each field."""
    if prefix == "config":
        return _config_fields(value)
    if isinstance(value, dict):
        items = [(str(key), one) for key, one in value.items()]
    elif isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        items = [
            (str(one.get("file", index)) if isinstance(one, dict) else str(index), one)
            for index, one in enumerate(value)
        ]
    else:
        return {prefix: ", ".join(map(str, value)) if isinstance(value, list) else str(value)}
    flat = {}
    for name, one in items:
        flat.update(_flat(one, f"{prefix}.{name}" if prefix else name))
    return flat


def _config_fields(lines):
    """Values of a text proto by dotted path; the n-th of the messages of one name is name[n]."""
    path, counts, fields = ["config"], [{}], {}
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            name = line[:-1].strip()
            number = counts[-1][name] = counts[-1].get(name, -1) + 1
            path.append(f"{name}[{number}]" if number else name)
            counts.append({})
        elif line == "}":
            path.pop()
            counts.pop()
        elif line:
            name, _, value = line.partition(": ")
            name = ".".join(path + [name])
            fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


def _read(path):
    cure = "Name two folders of runs, or their run.json."
    file = os.path.join(path, NAME) if os.path.isdir(path) else path
    try:
        manifest = read_json(file, cure)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}.", cure)
    if not isinstance(manifest, dict):
        raise Refused(f"{file} is not there or is no run.json.", cure)
    return manifest


def main(arguments=None):
    """Returns the exit code: 0 where the runs are the same, 1 where they differ, 2 for a file that is none."""
    parser = argparse.ArgumentParser(prog="python -m trainers.manifest", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    commands.required = True
    diff = commands.add_parser("diff", help="what tells two runs apart; exit code 1 where something does")
    diff.add_argument("runs", nargs=2, metavar="RUN", help="a RUN_DIR or a run.json")
    diff.add_argument("--all", action="store_true", help="also times, host and command, which always differ")
    options = parser.parse_args(arguments)
    try:
        found = differences(*[_read(run) for run in options.runs], everything=options.all)
    except Refused as refused:
        print(f"{refused.what} {refused.do}", file=sys.stderr)
        return SETTINGS_REFUSED
    if not found:
        print("The two runs are of the same making.")
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table("", *options.runs, box=None, padding=(0, 2, 0, 0))
    for row in found:
        table.add_row(*row)
    Console(highlight=False, markup=False, emoji=False).print(table)
    return 1


if __name__ == "__main__":
    sys.exit(main())
