"""What TensorBoard shows of the losses.

Added to the API by the tfod-train patch same_training_summaries.
"""

import re

import tensorflow.compat.v1 as tf
from object_detection.utils import replicas


def of_model(losses):
    """Writes the losses to TensorBoard, averaged over replicas, with the tags of the legacy trainer.

    Args:
        losses: dict of scalar tensors with the keys Loss/..., Loss/regularization_loss and Loss/total_loss.
    """
    names = sorted(losses)
    (values,) = replicas.reduce(replicas.MEAN, [tf.stack([losses[name] for name in names])])
    tags = {"Loss/regularization_loss": "regularization_loss", "Loss/total_loss": "TotalLoss"}
    for name, value in zip(names, tf.unstack(values)):
        tf.summary.scalar("Losses/" + tags.get(name, name), value)


def of_clones(clones, regularization_losses):
    """The losses to show of several clones, each averaged over them, named as those of one clone.

    Args:
        clones: list of deployment.model_deploy.Clone.
        regularization_losses: list of scalar tensors; None for those of the graph.

    Returns:
        list of scalar tensors.
    """
    if len(clones) == 1:
        return tf.losses.get_losses()
    losses = [tf.get_collection(tf.GraphKeys.LOSSES, clone.scope) for clone in clones]
    # A clone's share of the whole batch's loss is named after the loss (whole_batch.py).
    names = [re.sub("_share$", "", loss.op.name[len(clones[0].scope) :]) for loss in losses[0]]
    shown = [tf.multiply(tf.add_n(same), 1.0 / len(clones), name=name) for name, same in zip(names, zip(*losses))]
    if regularization_losses is None:
        regularization_losses = tf.losses.get_regularization_losses()
    if regularization_losses:
        shown.append(tf.add_n(regularization_losses, name="regularization_loss"))
    return shown
