"""Each step ends with what the observers have to say; ../observers has what they leave behind."""

import io

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]


@pytest.mark.parametrize("asked_at, ended_at", [(1, 1), (3, 3), (None, 8)])
def test_a_training_that_is_asked_to_stop_makes_no_further_step(asked_at, ended_at, tmp_path, training_of):
    import tensorflow.compat.v1 as tf

    from tfod_train import observers
    from tfod_train.hooks.step import StepHook

    heard = []

    def step_ended():
        heard.append(training.stop.in_steps)
        if len(heard) == asked_at:
            training.stop.requested = 15

    training = training_of(str(tmp_path), io.StringIO(), beat=step_ended)
    with tf.Graph().as_default():
        train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        hook = StepHook(observers.make(training), tf.get_variable("v", initializer=2.0) * 3)
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(train)
    assert (hook.step, heard) == (ended_at, [True] * ended_at)
