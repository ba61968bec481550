"""Which checkpoints a folder holds, read without TensorFlow."""

import os
from typing import List, Optional, Tuple

from tfod_train.checkpoints import integrity


def checkpoints(folder: str) -> List[Tuple[str, int]]:
    """(path, step) of each complete checkpoint, oldest first, read without TensorFlow.

    Complete: the index can be read and every shard is there and long enough. `newest_checkpoint` looks closer.
    """
    found = [(prefix(folder, step), step) for step in integrity.steps(folder)]
    return [(path, step) for path, step in found if integrity.problem(path) is None]


def newest_checkpoint(folder: str) -> Optional[Tuple[str, int]]:
    """(path, step) of the newest checkpoint whose values have the checksums they were saved with; None for none."""
    for path, step in reversed(checkpoints(folder)):
        if integrity.problem(path, values=True) is None:
            return path, step
    return None


def torn_checkpoints(folder: str) -> List[str]:
    """A sentence for each checkpoint that is newer than `newest_checkpoint` and cannot be restored, oldest first."""
    newest = newest_checkpoint(folder)
    torn = [
        (step, integrity.problem(prefix(folder, step), values=True))
        for step in integrity.steps(folder)
        if newest is None or step > newest[1]
    ]
    return [f"Checkpoint {prefix(folder, step)} cannot be read: {why}." for step, why in torn if why]


def prefix(folder: str, step: int) -> str:
    return os.path.join(folder, f"model.ckpt-{step}")
