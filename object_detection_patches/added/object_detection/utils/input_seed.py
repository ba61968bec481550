"""Repeatable maps over the input of a seeded graph. Added to the API by the tfod-train patch seeded_input_map."""

import tensorflow.compat.v1 as tf
from tensorflow.python.framework import random_seed

_LARGEST_SEED = 2**31 - 1


def seeded(function):
    """The function, to be mapped over a dataset, with a seed of its own that follows from the graph's.

    A legacy function is a graph of its own and starts without a seed. Where the graph has none, the function
    is returned as it is.
    """
    graph_seed, number = random_seed.get_seed(None)
    if graph_seed is None:
        return function

    def seeded_function(*arguments):
        tf.set_random_seed((graph_seed + 7919 * number) % _LARGEST_SEED)
        return function(*arguments)

    return seeded_function


def parallel_calls(wanted):
    """How many calls of a mapped function may run at once: `wanted`, one in a seeded graph.

    Calls that run at once take their random numbers from the same generators, in no fixed order.
    """
    return wanted if tf.get_default_graph().seed is None else 1
