"""Early stopping, as the training sees it: after each save it looks whether an evaluation asked for it."""

from typing import Any

from tfod_train.run import stop_request
from tfod_train.run.run_dir import RunDir


def listener(run_dir: RunDir) -> Any:
    """A CheckpointSaverListener that ends the training after a save when it was asked to."""
    import tensorflow.compat.v1 as tf

    class StopWhenAsked(tf.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> bool:
            return stop_request.reason(run_dir) is not None

    return StopWhenAsked()
