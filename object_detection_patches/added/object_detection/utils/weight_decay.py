"""Weight decay under a distribution strategy.

Added to the API by the tfod-train patch weight_decay_under_strategy.
"""

import tensorflow.compat.v1 as tf


def of_every_replica(losses):
    """The regularization losses with the gradient that all replicas together should have.

    slim makes these losses once, from the first replica's copy of each weight, so only the first replica has
    a gradient for them: in the mean over replicas that is one replica's share. Their values stay as they are.

    Args:
        losses: list of scalar tensors.

    Returns:
        list of scalar tensors.
    """
    strategy = tf.distribute.get_strategy()
    # Every machine of a cluster has a first replica of its own, so only the replicas of this one count.
    replicas = len(strategy.extended.worker_devices) if tf.distribute.has_strategy() else 1
    if replicas == 1:
        return losses
    return [loss + (replicas - 1) * (loss - tf.stop_gradient(loss)) for loss in losses]
