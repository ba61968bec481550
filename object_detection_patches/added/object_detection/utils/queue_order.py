"""Dequeueing in a fixed order. Added to the API by the tfod-train patch clones_dequeue_in_order."""

import tensorflow.compat.v1 as tf


def dequeue(queue):
    """What queue.dequeue() returns, taken after everything that was dequeued through this function before.

    Args:
        queue: a tf.QueueBase of named components.

    Returns:
        A dict of tensors.
    """
    before = getattr(queue, "dequeued_before", [])
    with tf.control_dependencies(before):
        batch = queue.dequeue()
    queue.dequeued_before = [next(iter(batch.values())).op]
    return batch
