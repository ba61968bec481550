"""Sums and means over the replicas of a distribution strategy.

Added to the API by several tfod-train patches.
"""

import tensorflow.compat.v1 as tf

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


def count():
    """The number of replicas that train in step, over all machines; 1 without a strategy."""
    return tf.distribute.get_strategy().num_replicas_in_sync


def reduce(reduce_op, tensors):
    """Reduces each of the tensors over all replicas; call it in every replica, in the same order.

    tf.distribute.ReplicaContext.all_reduce looks for the variables that its arguments depend on, in case
    somebody asks for a gradient, and fails on those of other replicas. Here gradients are not supported.

    Args:
        reduce_op: SUM or MEAN.
        tensors: list of tensors of the same shapes in every replica.

    Returns:
        list of tensors, the same in every replica; the tensors themselves where there is one replica.
    """
    if count() == 1 or not tensors:
        return tensors
    return tf.distribute.get_replica_context().merge_call(_merge, args=(reduce_op,) + tuple(tensors))


def _merge(strategy, reduce_op, *values):
    # One replica on this machine gives a plain tensor, which is reduced to where it is.
    return strategy.extended.batch_reduce_to(
        reduce_op, [(value, value.device if isinstance(value, tf.Tensor) else value) for value in values]
    )
