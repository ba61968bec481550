"""The wait for input, of steps whose input or whose work is slow on purpose."""

import statistics
import time

import pytest

pytestmark = pytest.mark.tensorflow

SLOW = 0.3


def after(tf, secs, value):
    """The value, `secs` later."""

    def sleep(given):
        time.sleep(secs)
        return given

    return tf.py_func(sleep, [value], tf.float32)


def iterator(tf, secs):
    """As the mirrored trainer takes its input."""
    numbers = tf.data.Dataset.range(100).map(lambda number: after(tf, secs, tf.cast(number, tf.float32)))
    made = tf.data.make_initializable_iterator(numbers)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, made.initializer)
    return made.get_next()


def queue(tf, secs):
    """As the clone trainer takes its input, an iterator's elements through a queue."""
    waiting = tf.FIFOQueue(1, tf.float32)
    tf.train.add_queue_runner(tf.train.QueueRunner(waiting, [waiting.enqueue(iterator(tf, secs))]))
    return waiting.dequeue()


@pytest.mark.parametrize("take", [iterator, queue])
@pytest.mark.parametrize("input_secs, work_secs, least, most", [(SLOW, 0, SLOW / 2, 2 * SLOW), (0, SLOW, 0, SLOW / 2)])
def test_a_slow_input_is_waited_for_and_slow_work_is_not(take, input_secs, work_secs, least, most):
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks import data_time

    with tf.Graph().as_default():
        loss = after(tf, work_secs, take(tf, input_secs))
        times = data_time.times(loss)
        assert len(times) == 2  # the start, and the one batch; not what fills the queue
        with tf.train.MonitoredSession() as session:
            waited = [data_time.secs(session.run([loss, times])[1]) for _ in range(6)][1:]
    # Not the mean, which one pause of a busy machine moves.
    assert least <= statistics.median(waited) <= most, waited


def test_a_step_without_input_waits_for_none():
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks import data_time

    with tf.Graph().as_default():
        assert data_time.secs(data_time.times(tf.constant(1.0))) is None
