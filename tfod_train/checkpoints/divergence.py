"""A training whose loss or weights are not finite any more: which checkpoint is the last good one.

A step's loss may be finite while its update breaks the weights; a checkpoint saved then is no good, and only the next
step's loss shows it.
"""

import os
from typing import Callable, Optional

from common.errors import DIVERGED, Refused
from tfod_train.checkpoints.find import checkpoints, newest_checkpoint
from tfod_train.checkpoints.integrity import files_of, problem

ASIDE = "diverged-"


def broken_variable(prefix: str) -> Optional[str]:
    """Name of a variable of a checkpoint that holds a value that is not finite; None where all are."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    reader = tf.train.NewCheckpointReader(prefix)
    for name, dtype in sorted(reader.get_variable_to_dtype_map().items()):
        if dtype.is_floating and not np.isfinite(reader.get_tensor(name)).all():
            return name
    return None


def refused(how: str, folder: str, say: Callable[[str], None]) -> Refused:
    """The Refused of a training that diverged; sets its checkpoints aside that hold what is not finite.

    Args:
        how: half a sentence.
        folder: RUN_DIR.
        say: function(sentence).
    """
    whole = [prefix for prefix, _ in checkpoints(folder) if problem(prefix, values=True) is None]
    for prefix in reversed(whole):
        name = broken_variable(prefix)
        if name is None:
            break
        for path in files_of(prefix):
            os.replace(path, os.path.join(folder, ASIDE + os.path.basename(path)))
        say(
            f"Checkpoint {prefix} holds weights that are not finite ({name}). It is kept as "
            f"{os.path.join(folder, ASIDE + os.path.basename(prefix))}*."
        )
    newest = newest_checkpoint(folder)
    return Refused(
        f"Training diverged: {how}.",
        f"Lower the learning rate or check the data; the newest checkpoint is {newest[0] if newest else 'not there'}.",
        DIVERGED,
    )


def refuse_broken_weights(folder: str, say: Callable[[str], None]) -> None:
    """For the end of a training, after which no step would show it.

    Args:
        folder: RUN_DIR.
        say: function(sentence).

    Raises:
        Refused: exit code 4; the newest checkpoint is broken.
    """
    newest = newest_checkpoint(folder)
    name = newest and broken_variable(newest[0])
    if name:
        raise refused(f"the last step left weights that are not finite ({name})", folder, say)
