"""Early stopping, as the training sees it: after each save it looks whether an evaluation asked for it."""

from trainers import stop_request


def listener(run_dir):
    """A CheckpointSaverListener that ends the training after a save when it was asked to."""
    import tensorflow.compat.v1 as tf

    class StopWhenAsked(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            return stop_request.reason(run_dir) is not None

    return StopWhenAsked()
