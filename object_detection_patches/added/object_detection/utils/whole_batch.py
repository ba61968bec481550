"""Losses that mean the same on any number of devices.

Added to the API by the tfod-train patch whole_batch_loss. Trainers take the mean of their devices' losses.
That is the loss of the whole batch only for losses that are themselves means over images. A loss that is a
sum over a device's images, divided by what was counted on that device (SSD: its matches), has to be
divided by what was counted on all devices, and multiplied by their number.
"""

import collections
from typing import Any, Dict

import tensorflow.compat.v1 as tf
from object_detection.utils import replicas

# A graph's losses made by `sums`, and beside each what was counted on its device: tensors, so that they can
# be saved.
_SUMS = "whole_batch_sums"
_COUNTS = "whole_batch_counts"


def sums(losses, count):
    """Makes of a device's losses those whose mean over replicas is the whole batch's; notes them for clones.

    Args:
        losses: dict of scalar tensors, each a sum over the device's images divided by max(count, 1).
        count: scalar, what was counted on the device (a tensor, or 0. for losses that are plain sums).

    Returns:
        dict of scalar tensors with the same keys: the losses themselves where there is one replica.
    """
    count = tf.stop_gradient(tf.convert_to_tensor(count))
    if replicas.count() > 1:
        (total,) = replicas.reduce(replicas.SUM, [count])
        share = _share(count, total, replicas.count())
        return collections.OrderedDict((name, loss * share) for name, loss in losses.items())
    for loss in losses.values():
        tf.add_to_collection(_SUMS, loss)
        tf.add_to_collection(_COUNTS, count)
    return losses


def shared(clones):
    """Makes of the clones' losses those whose mean is the whole batch's, in the collection LOSSES.

    Args:
        clones: list of deployment.model_deploy.Clone, all of them.

    Returns:
        The clones.
    """
    sums_of_graph, counts = tf.get_collection(_SUMS), tf.get_collection(_COUNTS)
    if len(clones) == 1 or not sums_of_graph:
        return clones
    count_of = dict(zip([loss.op.name for loss in sums_of_graph], counts))
    # Losses of one kind have the same name in each clone's scope, and are counted together.
    total_of: Dict[str, Any] = collections.defaultdict(float)
    for name, count in count_of.items():
        total_of[_without_scope(name, clones)] += count
    losses = tf.get_collection_ref(tf.GraphKeys.LOSSES)
    for index, loss in enumerate(losses):
        name = loss.op.name
        if name in count_of:
            losses[index] = tf.multiply(
                loss, _share(count_of[name], total_of[_without_scope(name, clones)], len(clones)), name=name + "_share"
            )
    return clones


def _share(count, total, devices):
    return float(devices) * tf.maximum(count, 1.0) / tf.maximum(total, 1.0)


def _without_scope(name, clones):
    return next(name[len(clone.scope) :] for clone in clones if name.startswith(clone.scope))
