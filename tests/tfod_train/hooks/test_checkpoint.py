"""Saving: at the interval of the settings, and only where there is room; test_retention.py has what stays."""

import os

import pytest

from common.errors import Refused
from tfod_train.run.run_dir import GRAPH_BYTES, RunDir

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]


@pytest.fixture
def train(planned_run, tmp_path):
    """function(steps, **settings) -> RunDir of a training of one variable that took so many steps."""
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks.checkpoint import checkpoint_hook

    def steps(count, **settings):
        run = planned_run(tmp_path, None, **settings)
        with tf.Graph().as_default():
            increment = tf.train.get_or_create_global_step().assign_add(1)
            scaffold = tf.train.Scaffold(saver=tf.train.Saver(save_relative_paths=True))
            with tf.train.MonitoredSession(
                tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=str(tmp_path)),
                [checkpoint_hook(run, scaffold=scaffold)],
            ) as session:
                while not session.should_stop() and count:
                    session.run(increment)
                    count -= 1
        return run.run_dir

    return steps


def test_it_saves_at_the_interval_and_after_the_last_step_without_the_graph_as_text(train):
    run_dir = train(5, CHECKPOINT_EVERY_STEPS="2", CHECKPOINT_EVERY_SECS="")
    assert [step for _, step in run_dir.checkpoints()] == [2, 4, 5]
    assert "graph.pbtxt" not in os.listdir(str(run_dir))


def test_without_an_interval_of_its_own_it_saves_each_ten_minutes(planned_run, tmp_path):
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks.checkpoint import checkpoint_hook

    timer = checkpoint_hook(planned_run(tmp_path, None), saver=tf.train.Saver([tf.Variable(0)]))._timer
    assert (timer._every_secs, timer._every_steps) == (600, None)


def test_a_disk_without_room_for_the_next_one_stops_the_training_and_names_where_it_resumes(train, monkeypatch):
    free = iter([10**12] * 3)  # at the start, and for two saves
    monkeypatch.setattr(RunDir, "free_bytes", lambda self: next(free, GRAPH_BYTES))
    with pytest.raises(Refused) as refused:
        train(9, CHECKPOINT_EVERY_STEPS="1")
    assert refused.value.code == 3
    assert refused.value.what.endswith(f"and the checkpoint of step 3 needs {GRAPH_BYTES // 2**20} MB.")
    assert refused.value.do.endswith("model.ckpt-2.")


def test_a_disk_without_room_for_those_to_keep_is_refused_before_the_first_step(train, monkeypatch, tmp_path):
    monkeypatch.setattr(RunDir, "free_bytes", lambda self: 7)
    with pytest.raises(Refused, match="lower KEEP_CHECKPOINTS"):
        train(1)
    assert RunDir(tmp_path).checkpoints() == []


@pytest.mark.parametrize("there, copies", [(0, 4), (1, 3), (3, 1), (9, 1)])
def test_there_has_to_be_room_for_those_to_keep_and_one_more(there, copies, planned_run, tmp_path, monkeypatch):
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks.checkpoint import checkpoint_hook

    asked = []
    monkeypatch.setattr(RunDir, "checkpoints", lambda self: [("model.ckpt", 1)] * there)
    monkeypatch.setattr(RunDir, "check_free_space", lambda self, needed: asked.append(needed))
    with tf.Graph().as_default():
        tf.get_variable("a", [5])
        tf.train.create_global_step()
        checkpoint_hook(planned_run(tmp_path, None, KEEP_CHECKPOINTS="3"), saver=tf.train.Saver()).begin()
    assert asked == [copies * (5 * 4 + 8)]


def test_a_variable_counts_once_however_many_replicas_have_it():
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks.checkpoint import checkpoint_bytes

    with tf.Graph().as_default():
        for name, dtype in (("a", tf.float32), ("a/replica_1", tf.float32), ("b", tf.float64), ("c/Adam", tf.int32)):
            tf.get_variable(name, [3], dtype, tf.zeros_initializer())
        assert checkpoint_bytes() == 3 * 4 + 3 * 8 + 3 * 4
