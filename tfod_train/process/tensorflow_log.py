"""Imports TensorFlow with its log where it belongs."""

from typing import Any


def import_tensorflow() -> Any:
    """TensorFlow, logging each line once.

    TensorFlow 1.15 adds a handler of its own to its logger and also passes records on to the root logger; absl's, when
    imported, installs one there, and every line would come twice.
    """
    import tensorflow.compat.v1 as tf

    logger = tf.get_logger()
    logger.propagate = False
    tf.logging.set_verbosity(tf.logging.INFO)
    return tf
