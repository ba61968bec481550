"""RUN_DIR: is there a run to go on with, may we write here, and what is it (run.json)?"""
import fcntl
import json
import os
import platform
import re
import shutil
import time

from google.protobuf import text_format

from data_prep import files
from trainers import pipeline
from trainers.errors import PREFLIGHT_FAILED, Refused
from trainers.files import read_json, write_json

CONFIG = "pipeline.config"
MANIFEST = "run.json"
LOG = "train.log"
# The event file with the graph, the log and the first metrics: 15 MB for the small models in configs/. What the
# checkpoints need is checked when the graph is built (trainers/progress.py).
ROOM_TO_START_BYTES = 64 * 2 ** 20
_LOCKS = []


def default(dataset_name, trainer):
    """`runs/<dataset>-<trainer>`."""
    return os.path.join("runs", "%s-%s" % (dataset_name, trainer))


def checkpoints(folder):
    """(path, step) of each complete checkpoint, oldest first, read without TensorFlow."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    with_data = {name.split(".data-")[0] for name in names if ".data-" in name}
    steps = [int(match.group(1)) for match in (re.match(r"model\.ckpt-(\d+)\.index$", name) for name in names) if match]
    found = [(os.path.join(folder, "model.ckpt-%d" % step), step) for step in sorted(steps)]
    return [(path, step) for path, step in found if os.path.basename(path) in with_data]


def newest_checkpoint(folder):
    """(path, step) of the newest complete checkpoint; None where there is none."""
    found = checkpoints(folder)
    return found[-1] if found else None


def prepare(folder, config, settings):
    """Makes RUN_DIR ours: creates and locks it, and checks that what it holds can be gone on with.

    Args:
        folder: RUN_DIR.
        config: the effective TrainEvalPipelineConfig.
        settings: Settings.

    Returns:
        step (int) the run goes on from; 0 for a new run.

    Raises:
        Refused: it holds another model, a foreign checkpoint, another training is in it, or RESUME forbids.
    """
    newest = newest_checkpoint(folder)
    ours = os.path.exists(os.path.join(folder, MANIFEST)) and os.path.exists(os.path.join(folder, CONFIG))
    elsewhere = "Set RUN_DIR to another folder, or delete this one."
    if not _is_our_manifest(os.path.join(folder, MANIFEST)):
        raise Refused("%s holds a run.json of something else." % folder, elsewhere)
    if not ours and _holds_a_checkpoint(folder):
        raise Refused("%s holds checkpoints of something else (no run.json beside them)." % folder, elsewhere)
    if newest and settings.resume.value == "never":
        raise Refused("%s holds a run at step %d, and RESUME=never." % (folder, newest[1]), elsewhere)
    if not newest and settings.resume.value == "require":
        raise Refused("RESUME=require, but %s holds no checkpoint." % folder,
                      "Set RUN_DIR to the run to go on with, or leave RESUME out.")
    if newest:
        before = pipeline.parse(os.path.join(folder, CONFIG))
        differences = pipeline.differing_fields(before.model, config.model, "model.")
        if differences:
            raise Refused("%s holds a run of another model: %s." % (folder, ", ".join(differences)), elsewhere)
    _create_and_lock(folder)
    check_free_space(folder, ROOM_TO_START_BYTES)
    return newest[1] if newest else 0


def _is_our_manifest(path):
    """True where the file is ours or is not there."""
    try:
        manifest = read_json(path)
    except (ValueError, OSError):
        return not os.path.isfile(path)
    return manifest is None or (isinstance(manifest, dict) and "settings" in manifest)


def _holds_a_checkpoint(folder):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return any(name == "checkpoint" or name.endswith(".index") for name in names)


def _create_and_lock(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(os.path.join(folder, ".lock"), "w")
    except (FileExistsError, NotADirectoryError):
        raise Refused("RUN_DIR=%s is not a folder." % folder, "Choose another name.", PREFLIGHT_FAILED)
    except OSError as error:
        raise Refused("RUN_DIR=%s cannot be written: %s." % (folder, error.strerror),
                      "Choose a folder that belongs to you, or change its owner.", PREFLIGHT_FAILED)
    if not any(_try_lock(lock) for _ in range(3)):
        raise Refused("Another training is running in %s." % folder,
                      "Wait for it, stop it, or set RUN_DIR to another folder.", PREFLIGHT_FAILED)
    _LOCKS.append(lock)     # held until the process ends, however it ends


def _try_lock(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        time.sleep(0.2)     # an evaluation that asks `is_training` holds it for microseconds
        return False


def check_free_space(folder, needed_bytes):
    """Refuses to start where the checkpoints to keep would not fit."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise Refused("%s has %d MB free; this run needs about %d MB." % (
            folder, free // 2 ** 20, needed_bytes // 2 ** 20),
            "Free some space, set RUN_DIR to another disk, or lower KEEP_CHECKPOINTS.", PREFLIGHT_FAILED)


def write_config(folder, config):
    files.write(os.path.join(folder, CONFIG), text_format.MessageToString(config).encode("utf-8"))


def write_manifest(folder, settings, dataset, devices, config_path, changes, start_step):
    """run.json at the start of a run: enough to say what it is; `finish_manifest` adds how it ended."""
    write_json(os.path.join(folder, MANIFEST), {
        "settings": json.loads(settings.json()),
        "config_file": config_path,
        "config_changes": changes,
        "dataset": {"name": dataset.name, "folder": dataset.folder,
                    "shards": {name: split["shards"] for name, split in dataset.description["splits"].items()}},
        "devices": {"kind": devices.kind, "count": devices.count},
        "versions": _versions(),
        "start_step": start_step,
        "started": _now(),
        "outcome": "running",
    })


def finish_manifest(folder, outcome, step, exit_code):
    """Adds the end of a run to run.json: outcome is a word or two, step the last finished one."""
    path = os.path.join(folder, MANIFEST)
    manifest = read_json(path) or {}
    manifest.update(outcome=outcome, step=step, exit_code=exit_code, ended=_now())
    write_json(path, manifest)


def _now():
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _versions():
    import pkg_resources
    wanted = ("tensorflow-gpu", "tensorflow", "tf-slim", "numpy", "protobuf", "pycocotools", "pillow")
    installed = {package.project_name.lower(): package.version for package in pkg_resources.working_set}
    versions = {name: installed[name] for name in wanted if name in installed}
    versions["python"] = platform.python_version()
    return versions


def is_training(folder):
    """True while a training holds the lock of RUN_DIR."""
    try:
        with open(os.path.join(folder, ".lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True
