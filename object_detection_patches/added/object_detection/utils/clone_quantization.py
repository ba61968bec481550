"""Quantised training of several clones in one graph.

Added to the API by the tfod-train patch quantized_clones.

Quantised training keeps the range of each tensor, a minimum and a maximum, in variables. Every clone keeps
ranges of its own, of its own part of the batch: averages that all clones wrote would depend on whose write comes
last. Clone 0's are the model's, as with the statistics of batch normalisation: they are saved, under the names
of a graph without clones. The others start from them, at the beginning of every session.
"""

import re

import tensorflow.compat.v1 as tf
from tensorflow.contrib import quantize

# A range's own average is named below the range, with the clone in its name twice.
_CLONE = re.compile(r"(^|/)clone_(\d+)/")


def create_training_graph(input_graph, quant_delay):
    """tf.contrib.quantize's experimental_create_training_graph, for a graph with or without clones."""
    scope = tf.get_variable_scope()
    with tf.variable_scope(scope, custom_getter=_range_of_clone):
        quantize.experimental_create_training_graph(input_graph=input_graph, quant_delay=quant_delay)


def on_clone_devices(hook, deploy_config):
    """Calls hook(); what it adds to the graph goes to the device of the clone it belongs to, clone 0's
    variables to that of all variables.

    Args:
        hook: function without arguments.
        deploy_config: model_deploy.DeploymentConfig.
    """
    of_variables = deploy_config.variables_device()

    def device(op):
        if op.device:
            return op.device
        clone = _clone_of(op.name)
        if op.type.startswith("Variable") and not clone:
            return of_variables(op) if callable(of_variables) else of_variables
        return deploy_config.clone_device(clone)

    with tf.device(device):
        hook()


def _clone_of(name):
    """The number of the clone in a name; 0 for what has none."""
    found = _CLONE.match(name)
    return int(found.group(2)) if found else 0


def _range_of_clone(getter, name, *args, **kwargs):
    shared = _CLONE.sub(r"\1", name)
    if not _clone_of(name):
        return getter(shared, *args, **kwargs)
    of_clone_0 = {variable.op.name: variable for variable in tf.global_variables()}[shared]
    kwargs.update(
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        initializer=lambda *unused_args, **unused_kwargs: of_clone_0.read_value(),
    )
    # A range's own average is made to stand where the range is; what reads clone 0's cannot.
    with tf.get_default_graph().colocate_with(None, ignore_existing=True):
        return getter(name, *args, **kwargs)
