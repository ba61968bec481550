"""RUN_DIR/best/: the checkpoint that the run's evaluations liked best, out of reach of KEEP_CHECKPOINTS.

best.json says which of the checkpoints in the folder it is. That file is written last and at once, so that it names a
whole checkpoint whatever is killed. What else lies there is left over, and removed by the next one that is kept.
"""

import contextlib
import os
import shutil
from typing import Any, Dict, NamedTuple, Optional

from common import files
from common.errors import PREFLIGHT_FAILED, Refused
from common.json_files import read_json, write_json
from tfod_train.checkpoints import integrity

FOLDER = "best"
DESCRIPTION = "best.json"
# What it says, and of which type.
KINDS: Dict[str, Any] = {"checkpoint": str, "step": int, "metric": str, "value": (int, float)}


class Gone(Exception):
    """The checkpoint is not there, or cannot be restored; the text is half a sentence that says why."""


class Kept(NamedTuple):
    """`checkpoint`: path without .index; `value`: of `metric`, at `step`."""

    checkpoint: str
    step: int
    metric: str
    value: float


def kept(run_dir: str) -> Optional[Kept]:
    """The Kept of a run; None where nothing was evaluated, or its files are gone.

    Raises:
        Refused: best.json is there and says something else.
    """
    folder = os.path.join(run_dir, FOLDER)
    description = os.path.join(folder, DESCRIPTION)
    found = read_json(description)
    if not found:
        return None
    if not (isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in KINDS.items())):
        raise Refused(
            f"{description} does not say which checkpoint is the best.",
            "Move it away, or take it from a backup.",
            PREFLIGHT_FAILED,
        )
    checkpoint = os.path.join(folder, found["checkpoint"])
    if integrity.problem(checkpoint):
        return None
    return Kept(checkpoint, found["step"], found["metric"], found["value"])


def keep(run_dir: str, checkpoint: str, step: int, metric: str, value: float) -> None:
    """Makes a checkpoint the best of the run; the one before goes."""
    folder = os.path.join(run_dir, FOLDER)
    name = os.path.basename(set_aside(checkpoint, folder))
    write_json(os.path.join(folder, DESCRIPTION), {"checkpoint": name, "step": step, "metric": metric, "value": value})
    ours = {os.path.basename(path) for path in integrity.files_of(os.path.join(folder, name))}
    for other in set(os.listdir(folder)) - ours - {DESCRIPTION}:
        with contextlib.suppress(IsADirectoryError):
            os.unlink(os.path.join(folder, other))


def set_aside(checkpoint: str, folder: str) -> str:
    """Puts the files of a checkpoint into folder, by hard links where they can be had; returns its path there.

    Nobody writes into a finished checkpoint: a link costs nothing, and stays when the training deletes its own.

    Raises:
        Gone: the training deleted it meanwhile, or it is torn.
    """
    os.makedirs(folder, exist_ok=True)
    there = os.path.join(folder, os.path.basename(checkpoint))
    # The index last: without it there is no checkpoint.
    for path in sorted(integrity.files_of(checkpoint), key=lambda path: path.endswith(".index")):
        try:
            _link(path, os.path.join(folder, os.path.basename(path)))
        except FileNotFoundError as error:
            raise Gone("it is deleted") from error
    why = integrity.problem(there, values=True)
    if why:
        raise Gone(why)
    return there


def _link(path, there):
    unfinished = files.temporary(there)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(unfinished)
    try:
        os.link(path, unfinished)
    except FileNotFoundError:
        raise
    except OSError:  # no hard links here
        shutil.copyfile(path, unfinished)
        with open(unfinished, "rb") as copy:
            os.fsync(copy.fileno())
    # Renaming a link onto another one of the same file does nothing and leaves both.
    if os.path.exists(there) and os.path.samefile(there, unfinished):
        os.unlink(unfinished)
    else:
        os.replace(unfinished, there)
