"""run.json: what a run was made of and how it ended, enough to repeat it."""

import importlib.util
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

from google.protobuf import text_format

from common.json_files import read_json, write_json
from common.project import PROJECT_DIR
from object_detection_patches import source, tree
from object_detection_patches.patches import PATCHES
from tfod_train import __version__
from tfod_train.config import pretrained
from tfod_train.devices import gpus
from tfod_train.run.context import Run
from tfod_train.run.run_dir import RunDir

BUILD = "build.json"  # beside the code in an image: what it was built from


def start(run: Run) -> None:
    """Writes run.json as a run starts; what it held of earlier starts in this RUN_DIR goes to `earlier`."""
    settings, devices, path = run.settings, run.devices, run.run_dir.manifest
    before = read_json(path)
    write_json(
        path,
        {
            "settings": json.loads(settings.json(exclude={"tfod_image_id"})),
            "config_file": run.config_path,
            "config_changes": run.changes,
            "config": text_format.MessageToString(run.config).splitlines(),
            "dataset": _dataset(run.dataset),
            "devices": dict(_driver_and_names(), kind=devices.kind, count=devices.count, used=list(devices.names)),
            "api": api(),
            "version": __version__,
            "versions": versions(),
            "code": code(),
            "image_id": settings.tfod_image_id,
            "host": {"machine": platform.platform(), "cpus": os.cpu_count(), "container": gpus.in_container()},
            "command": " ".join(shlex.quote(argument) for argument in sys.argv),
            "fine_tuning": (before or {}).get("fine_tuning") if run.start_step else None,
            "earlier": _earlier(before),
            "start_step": run.start_step,
            "started": now(),
            "outcome": "running",
        },
    )


def fine_tuned(run_dir: RunDir, checkpoint_type: str, changes: List[str], facts: Dict[str, Any]) -> None:
    """Adds to run.json and to the run's config what its model begins from.

    Args:
        run_dir: of a run that has begun.
        checkpoint_type: fine_tune_checkpoint_type that was taken.
        changes: lines for config_changes.
        facts: what run.json has as `fine_tuning`.
    """
    config, manifest = run_dir.read_config(), run_dir.read_manifest()
    config.train_config.fine_tune_checkpoint_type = checkpoint_type
    manifest.update(
        config=text_format.MessageToString(config).splitlines(),
        config_changes=manifest["config_changes"] + changes,
        fine_tuning=facts,
    )
    run_dir.write_config(config, before=lambda: write_json(run_dir.manifest, manifest))


def finish(run_dir: RunDir, outcome: str, step: Optional[int], exit_code: int) -> None:
    """Adds the end of a run to run.json: outcome is a word or two, step the last finished one."""
    manifest = run_dir.read_manifest()
    manifest.update(outcome=outcome, step=step, exit_code=exit_code, ended=now())
    write_json(run_dir.manifest, manifest)


def now() -> str:
    """The time as run.json has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def versions() -> Dict[str, str]:
    """Version of Python and of every installed package, by name in lower case."""
    import pkg_resources

    found = {package.project_name.lower(): package.version for package in pkg_resources.working_set}
    return dict(found, python=platform.python_version())


def api() -> Optional[Dict[str, Any]]:
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


def code() -> Optional[Dict[str, Any]]:
    """What this code is: the commit of its checkout, or what its image was built from; None where neither is known."""
    built = read_json(os.path.join(PROJECT_DIR, BUILD))
    if built is not None or not os.path.exists(os.path.join(PROJECT_DIR, ".git")):
        return built
    try:
        commit = _git("rev-parse", "HEAD").strip()
        return {"commit": commit, "changed": sorted(line[3:] for line in _git("status", "--porcelain").splitlines())}
    except (OSError, subprocess.CalledProcessError):
        return None


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
        "class_ids": _class_ids(dataset),
        "shards": {name: split["shards"] for name, split in splits.items()},
    }


def _class_ids(dataset):
    """{name: id}: the label map may be another by the time somebody fine-tunes this run's model."""
    try:
        return pretrained.class_ids(dataset.label_map)
    except (OSError, ValueError):
        return None


def _driver_and_names():
    host = gpus.look()
    return {"driver": host.driver, "gpus": [gpu.name for gpu in host.gpus]}


def _earlier(manifest):
    """One entry for each earlier start in this RUN_DIR: when, from which step to which, and how it ended."""
    if not manifest:
        return []
    kept = ("started", "ended", "start_step", "step", "outcome", "exit_code", "code", "devices")
    return manifest.get("earlier", []) + [{name: manifest[name] for name in kept if name in manifest}]
