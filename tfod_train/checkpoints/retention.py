"""Which checkpoints of a run stay: the newest KEEP_CHECKPOINTS, and those that keep_checkpoint_every_n_hours keeps.

TensorFlow's file `checkpoint` lists the first kind. The saver writes it before it removes the oldest file; one killed
in between leaves a file that no list names and nothing would ever remove. It looks like one that
keep_checkpoint_every_n_hours has kept, so those are noted here.
"""

import os
import re
from typing import List, Optional

from common import files
from common.errors import Refused
from common.json_files import read_json, write_json
from tfod_train.checkpoints import integrity

STATE = "checkpoint"
KEPT_FOR_GOOD = "kept_for_good.json"


def put_in_order(folder: str, names: List[str], keep: int) -> None:
    """Makes the folder and its lists agree, after whatever ended the last training.

    A process killed between writing a checkpoint and writing `checkpoint` leaves that naming an older one, or none.

    Args:
        folder: RUN_DIR.
        names: of its whole checkpoints ("model.ckpt-STEP"), oldest first.
        keep: KEEP_CHECKPOINTS, at least 1.
    """
    newest, unlisted = _split(folder, names)
    kept = kept_for_good(folder)
    if kept is None:
        kept = unlisted  # no note tells what was kept for good: nothing is removed
    newest = [name for name in newest if name not in kept]
    for name in [name for name in unlisted if name not in kept] + newest[:-keep]:
        _remove(os.path.join(folder, name))
    _write_state(folder, newest[-keep:])
    _note(folder, [name for name in kept if name in names])


def note_kept_for_good(folder: str) -> None:
    """To be called after each save: what TensorFlow left there without listing it is to stay."""
    names = [f"model.ckpt-{step}" for step in integrity.steps(folder)]
    _, unlisted = _split(folder, names)
    if unlisted != kept_for_good(folder):
        _note(folder, unlisted)


def _split(folder, names):
    """(the listed names and all newer ones, the older ones that are not listed), each oldest first."""
    try:
        with open(os.path.join(folder, STATE), errors="replace") as state:
            paths = re.findall(r'^all_model_checkpoint_paths: "([^"]*)"', state.read(), re.MULTILINE)
    except FileNotFoundError:
        paths = []
    listed = [names.index(name) for name in map(os.path.basename, paths) if name in names]
    first = min(listed or [0])
    return names[first:], names[:first]


def kept_for_good(folder: str) -> Optional[List[str]]:
    """Names, or None where there is no note that can be read."""
    try:
        return read_json(os.path.join(folder, KEPT_FOR_GOOD))
    except Refused:
        return None


def _note(folder, names):
    write_json(os.path.join(folder, KEPT_FOR_GOOD), names)


def _remove(prefix):
    # The index first: without it the rest is what run_dir.remove_half_written removes.
    for path in sorted(integrity.files_of(prefix), key=lambda path: not path.endswith(".index")):
        os.remove(path)


def _write_state(folder, names):
    path = os.path.join(folder, STATE)
    if names:
        lines = [f'model_checkpoint_path: "{names[-1]}"']
        lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
        files.write(path, ("\n".join(lines) + "\n").encode("utf-8"))
    elif os.path.exists(path):
        os.remove(path)
