"""What a training in one process can do without before its first step.

Each kind of session call has TensorFlow 1.15 optimise the whole graph once more (most of a second for a small SSD), and
Python's garbage collector goes again and again over the objects of a graph that all stay. `python -m
benchmarks.startup` measures what leaving them out comes to.
"""

import contextlib
import gc
from typing import Any, Iterator

import tensorflow.compat.v1 as tf


def nothing_uninitialised() -> Any:
    """A string tensor of shape [0] for a Scaffold's ready_op and ready_for_local_init_op.

    Theirs ask for each variable whether another process has initialised or restored it. Here the process that asks has
    just done so.
    """
    return tf.constant([], tf.string)


def skip_ready_checks() -> None:
    """Gives the default graph ready ops; the Scaffolds of an Estimator take them from their collections."""
    for collection in (tf.GraphKeys.READY_OP, tf.GraphKeys.READY_FOR_LOCAL_INIT_OP):
        tf.add_to_collection(collection, nothing_uninitialised())


class CollectsGarbageAgain(tf.train.SessionRunHook):
    """Ends what without_garbage_collection began, with the first step."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        gc.enable()


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Nothing is collected until the first step (CollectsGarbageAgain) or the end of the block."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
