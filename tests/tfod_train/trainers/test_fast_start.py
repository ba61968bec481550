"""What is left out before the first step comes back after it, and is not needed."""

import gc

import pytest


@pytest.mark.tensorflow
def test_garbage_is_collected_again_from_the_first_step_on():
    from tfod_train.trainers import fast_start

    with fast_start.without_garbage_collection():
        assert not gc.isenabled()
        fast_start.CollectsGarbageAgain().after_run(None, None)
        assert gc.isenabled()


@pytest.mark.tensorflow
def test_garbage_is_collected_again_after_an_error():
    from tfod_train.trainers import fast_start

    with pytest.raises(ValueError):
        with fast_start.without_garbage_collection():
            raise ValueError
    assert gc.isenabled()


@pytest.mark.tensorflow
def test_a_scaffold_asks_no_variable_whether_it_is_initialised():
    import tensorflow.compat.v1 as tf

    from tfod_train.trainers import fast_start

    with tf.Graph().as_default() as graph:
        fast_start.skip_ready_checks()
        variable = tf.get_variable("weights", [2])
        scaffold = tf.train.Scaffold()
        with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
            assert session.run([scaffold.ready_op, scaffold.ready_for_local_init_op])[0].size == 0
            assert session.run(variable).shape == (2,)
        assert not [operation for operation in graph.get_operations() if "IsInitialized" in operation.type]


@pytest.mark.tensorflow
def test_a_graph_is_optimised_once():
    from tfod_train.devices import devices

    chosen = devices.Devices("cpu", 1, "-1", ("/cpu:0",))
    assert devices.session_config(chosen).graph_options.rewrite_options.meta_optimizer_iterations == 1
