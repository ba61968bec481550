"""RUN_DIR: is there a run to go on with, and may we write here?"""

import errno
import fcntl
import os
import re
import shutil
import time

from google.protobuf import text_format

from data_prep import files
from trainers import checkpoint_files, checkpoint_list, find, new_variables, pipeline
from trainers.errors import PREFLIGHT_FAILED, Refused
from trainers.files import read_json
from trainers.manifest import NAME as MANIFEST

CONFIG = "pipeline.config"
LOG = "train.log"
METRICS = "metrics.jsonl"
TORN = "torn-"
# The event file with the graph, the log and the first metrics: 15 MB for the small models in configs/. What the
# checkpoints need is checked when the graph is built (trainers/progress.py).
ROOM_TO_START_BYTES = 64 * 2**20
_LOCKS = []


def default(dataset_name, trainer):
    """`runs/<dataset>-<trainer>`."""
    return os.path.join("runs", f"{dataset_name}-{trainer}")


def prepare(folder, config, settings, say=lambda sentence: None):
    """Makes RUN_DIR ours: checks that what it holds can be gone on with, locks it, and clears what a crash left.

    Args:
        folder: RUN_DIR.
        config: the effective TrainEvalPipelineConfig.
        settings: Settings.
        say: function(sentence) for what people must know of what was cleared.

    Returns:
        step (int) the run goes on from; 0 for a new run.

    Raises:
        Refused: it holds another model, a foreign checkpoint, another training is in it, or RESUME forbids.
    """
    check(folder, config, settings)
    _create_and_lock(folder, say)
    if _is_ours(folder):
        _say_how_the_last_one_ended(folder, say)
        _set_torn_checkpoints_aside(folder, say)
        remove_half_written(folder)
        names = [os.path.basename(prefix) for prefix, _ in find.checkpoints(folder)]
        checkpoint_list.put_in_order(folder, names, settings.keep_checkpoints)
    check_free_space(folder, ROOM_TO_START_BYTES)
    newest = find.newest_checkpoint(folder)
    return newest[1] if newest else 0


def check(folder, config, settings):
    """The step a run in RUN_DIR would go on from; changes nothing. Raises Refused, as `prepare` does."""
    newest = find.newest_checkpoint(folder)
    elsewhere = "Set RUN_DIR to another folder, or delete this one."
    if not _is_our_manifest(os.path.join(folder, MANIFEST)):
        raise Refused(f"{folder} holds a run.json of something else.", elsewhere)
    if not _is_ours(folder) and _holds_a_checkpoint(folder):
        raise Refused(f"{folder} holds checkpoints of something else (no run.json beside them).", elsewhere)
    if newest and settings.resume.value == "never":
        raise Refused(f"{folder} holds a run at step {newest[1]}, and RESUME=never.", elsewhere)
    if not newest and settings.resume.value == "require":
        raise Refused(
            f"RESUME=require, but {folder} holds no checkpoint.",
            "Set RUN_DIR to the run to go on with, or leave RESUME out.",
        )
    if newest:
        before = pipeline.parse(os.path.join(folder, CONFIG))
        differences = pipeline.differing_fields(before.model, config.model, "model.")
        if differences:
            raise Refused(f"{folder} holds a run of another model: {', '.join(differences)}.", elsewhere)
        names = [entry.name for entry in checkpoint_files.read_index(newest[0]).entries]
        missing = new_variables.fields(before, config, names)
        if missing:
            raise Refused(
                f"{folder} holds a run without what this config trains: {', '.join(missing)}.",
                f"Set that back, or begin a new run from its weights: FINE_TUNE_CHECKPOINT={newest[0]} and "
                "another RUN_DIR.",
            )
    return newest[1] if newest else 0


def _is_ours(folder):
    return os.path.exists(os.path.join(folder, MANIFEST)) and os.path.exists(os.path.join(folder, CONFIG))


def _say_how_the_last_one_ended(folder, say):
    manifest = read_json(os.path.join(folder, MANIFEST)) or {}
    if manifest.get("outcome") == "running":
        say(
            "The last training here ended without a word: it was killed (exit code 137 where memory ran out), or the "
            "machine went down."
        )


def _set_torn_checkpoints_aside(folder, say):
    """Renames what cannot be restored, so that TensorFlow and people find the newest that can."""
    newest = find.newest_checkpoint(folder)
    for step in checkpoint_files.steps(folder):
        prefix = find.prefix(folder, step)
        why = checkpoint_files.problem(prefix, values=newest is None or step > newest[1])
        if why is None:
            continue
        for path in checkpoint_files.files_of(prefix):
            os.replace(path, os.path.join(folder, TORN + os.path.basename(path)))
        say(
            f"Checkpoint {prefix} cannot be read: {why}. It is kept as "
            f"{os.path.join(folder, TORN + os.path.basename(prefix))}*; "
            f"{'the one before it is taken' if newest and newest[1] < step else 'there is none before it' if newest is None else 'newer ones are whole'}."
        )


def remove_half_written(folder):
    """Removes what a save that was killed or found no space left behind: parts that belong to no index."""
    files.remove_temporaries(folder)
    with_index = {f"model.ckpt-{step}" for step in checkpoint_files.steps(folder)}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        part = re.match(r"(model\.ckpt-\d+)(\.meta|\.data-\d+-of-\d+)$", name)
        unfinished = re.match(r"(model\.ckpt-\d+_temp_|model\.ckpt-\d+\.\w+\.tmp|checkpoint\.tmp)\w+(\.|$)", name)
        if unfinished or (part and part.group(1) not in with_index):
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def _is_our_manifest(path):
    """True where the file is ours or is not there."""
    try:
        manifest = read_json(path)
    except (Refused, OSError):
        return not os.path.isfile(path)
    return manifest is None or (isinstance(manifest, dict) and "settings" in manifest)


def _holds_a_checkpoint(folder):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return any(name == checkpoint_list.STATE or name.endswith(".index") for name in names)


def _create_and_lock(folder, say):
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(os.path.join(folder, ".lock"), "w")
    except (FileExistsError, NotADirectoryError):
        raise Refused(f"RUN_DIR={folder} is not a folder.", "Choose another name.", PREFLIGHT_FAILED)
    except OSError as error:
        raise Refused(
            f"RUN_DIR={folder} cannot be written: {error.strerror}.",
            "Choose a folder that belongs to you, or change its owner.",
            PREFLIGHT_FAILED,
        )
    try:
        if not any(_try_lock(lock) for _ in range(3)):
            raise another_training(folder)
    except OSError as error:
        # Some network file systems have no locks.
        say(f"{folder} cannot be locked ({error.strerror}): nothing will stop a second training in it.")
    _LOCKS.append(lock)  # held until the process ends, however it ends


def another_training(folder):
    """The Refused for a RUN_DIR in use."""
    return Refused(
        f"Another training is running in {folder}.",
        "Wait for it, stop it, or set RUN_DIR to another folder.",
        PREFLIGHT_FAILED,
    )


def _try_lock(lock):
    """True when it is ours, False when it is another's; raises OSError where the file system has no locks."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        time.sleep(0.2)  # an evaluation that asks `is_training` holds it for microseconds
        return False


def free_bytes(folder):
    return shutil.disk_usage(folder).free


def check_free_space(folder, needed_bytes):
    """Refuses to start where the checkpoints to keep would not fit."""
    free = free_bytes(folder)
    if free < needed_bytes:
        raise Refused(
            f"{folder} has {free // 2**20} MB free; this run needs about {needed_bytes // 2**20} MB.",
            "Free some space, set RUN_DIR to another disk, or lower KEEP_CHECKPOINTS.",
            PREFLIGHT_FAILED,
        )


def write_config(folder, config):
    files.write(os.path.join(folder, CONFIG), text_format.MessageToString(config).encode("utf-8"))


def is_training(folder):
    """True while a training holds the lock of RUN_DIR."""
    try:
        with open(os.path.join(folder, ".lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)  # else it cannot be locked: nobody knows
