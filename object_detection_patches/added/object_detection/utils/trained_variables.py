"""Which variables a config trains, and how much.

Added to the API by the tfod-train patch same_trained_variables.
"""

import re

import tensorflow.compat.v1 as tf
import tf_slim as slim


def chosen(train_config):
    """The trainable variables less those that update_trainable_variables and freeze_variables leave out, a
    list."""
    return slim.filter_variables(
        tf.trainable_variables(),
        include_patterns=list(train_config.update_trainable_variables) or None,
        exclude_patterns=list(train_config.freeze_variables) or None,
    )


def multipliers(train_config):
    """The factor of the gradient of every bias, by the variable's name; None without bias_grad_multiplier."""
    if not train_config.bias_grad_multiplier:
        return None
    return {
        variable.name: train_config.bias_grad_multiplier
        for variable in tf.trainable_variables()
        if re.match(".*/biases", variable.op.name)
    }
