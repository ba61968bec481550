"""SEED: what makes two runs on one machine end in the same checkpoint, bit for bit. docs/repeatable.md explains it.

Beside this, the patched API maps the input of a seeded graph serially (seeded_input_map) and lets clones take their
batches in order (clones_dequeue_in_order).
"""

import os

DETERMINISTIC_KERNELS = ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC")
# Fields of the reader and of train_config at which input arrives in one order.
ONE_READER = (("num_readers", 1), ("num_parallel_map_calls", 1))
ONE_QUEUE_THREAD = (("num_batch_queue_threads", 1),)


def order_input(config, set_field):
    """Lets the pictures come in an order that depends on the seed alone; called where SEED is set.

    Args:
        config: TrainEvalPipelineConfig, changed.
        set_field: function(message, field name, value).
    """
    for message, fields in ((config.train_input_reader, ONE_READER), (config.train_config, ONE_QUEUE_THREAD)):
        for field, value in fields:
            set_field(message, field, value)


def choose_deterministic_kernels():
    """Asks for them before TensorFlow is imported; builds that do not know the variables ignore them."""
    for name in DETERMINISTIC_KERNELS:
        os.environ[name] = "1"


def seeded(make_input, seed):
    """A function like make_input that first seeds the default graph; for a graph that the API makes itself.

    Args:
        make_input: the first function that is called in the new graph.
        seed: int, or None to leave the graph unseeded.
    """

    def make():
        import tensorflow.compat.v1 as tf

        tf.set_random_seed(seed)
        return make_input()

    return make_input if seed is None else make
