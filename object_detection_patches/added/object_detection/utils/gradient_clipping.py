"""Clipping of the gradient that a step applies.

Added to the API by the tfod-train patch clip_summed_gradient.
"""

import tensorflow.compat.v1 as tf
from object_detection.utils import replicas


def by_global_norm(norm):
    """A function that clips gradients by their global norm, after the sum over replicas.

    Args:
        norm: largest global norm, a positive number.

    Returns:
        A function from (gradient, variable) pairs to such pairs. Called in a replica it returns the replica's
        share, so that the sum over replicas, which the optimizer makes, is the clipped gradient.
    """

    def clip(grads_and_vars):
        given = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        gradients = [tf.convert_to_tensor(gradient) for gradient, _ in given]
        clipped, _ = tf.clip_by_global_norm(replicas.reduce(replicas.SUM, gradients), norm)
        if replicas.count() > 1:
            clipped = [gradient / replicas.count() for gradient in clipped]
        return [(gradient, variable) for gradient, (_, variable) in zip(clipped, given)]

    return clip
