"""SEED in TensorFlow itself: deterministic kernels, and a graph of the API's that is seeded before it is built."""

import os
from typing import Any, Callable, Optional

DETERMINISTIC_KERNELS = ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC")


def choose_deterministic_kernels() -> None:
    """Asks for them before TensorFlow is imported; builds that do not know the variables ignore them."""
    for name in DETERMINISTIC_KERNELS:
        os.environ[name] = "1"


def seeded(make_input: Callable[[], Any], seed: Optional[int]) -> Callable[[], Any]:
    """A function like make_input that first seeds the default graph; for a graph that the API makes itself.

    Args:
        make_input: the first function that is called in the new graph.
        seed: None to leave the graph unseeded.
    """

    def make() -> Any:
        import tensorflow.compat.v1 as tf

        tf.set_random_seed(seed)
        return make_input()

    return make_input if seed is None else make
