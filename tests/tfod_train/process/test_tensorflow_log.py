"""TensorFlow's log says each line once."""

import logging

import pytest


@pytest.mark.tensorflow
def test_a_line_comes_once_also_where_the_root_logger_has_a_handler():
    import tensorflow.compat.v1 as tf

    from tfod_train.process.tensorflow_log import import_tensorflow

    logger, lines = tf.get_logger(), []

    class Handler(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())

    handler, before, level = Handler(), logger.propagate, logger.level
    for each in (logger, logging.getLogger()):
        each.addHandler(handler)
    try:
        assert import_tensorflow() is tf
        tf.logging.info("loss = 1")
        tf.logging.debug("a detail")
    finally:
        for each in (logger, logging.getLogger()):
            each.removeHandler(handler)
        logger.propagate = before
        logger.setLevel(level)
    assert lines == ["loss = 1"]
