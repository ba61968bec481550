"""What keep_checkpoint_every_n_hours keeps is told apart from what a killed process did not get to remove."""

import os

import pytest

pytestmark = pytest.mark.tensorflow


def test_a_saver_that_keeps_some_for_good_has_them_noted_and_they_outlive_the_next_start(protos, planned_run, tmp_path):
    import tensorflow.compat.v1 as tf

    from tfod_train.checkpoints import find, retention
    from tfod_train.hooks.checkpoint import checkpoint_hook

    folder = str(tmp_path)
    run = planned_run(folder, None, CHECKPOINT_EVERY_STEPS="1", KEEP_CHECKPOINTS="2")
    with tf.Graph().as_default():
        increment = tf.train.get_or_create_global_step().assign_add(1)
        # A moment: each checkpoint but those of the first is kept for good when its turn to go comes.
        saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1e-9, save_relative_paths=True)
        scaffold = tf.train.Scaffold(saver=saver)
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder,
            scaffold=scaffold,
            save_checkpoint_secs=None,
            save_summaries_steps=None,
            save_summaries_secs=None,
            hooks=[checkpoint_hook(run, scaffold=scaffold)],
        ) as session:
            for _ in range(5):
                session.run(increment)
    names = [f"model.ckpt-{step}" for _, step in find.checkpoints(folder)]
    assert names == [f"model.ckpt-{step}" for step in range(6)][-len(names) :] and len(names) > 3
    assert retention.kept_for_good(folder) == names[:-2]
    retention.put_in_order(folder, names, 2)
    assert [f"model.ckpt-{step}" for _, step in find.checkpoints(folder)] == names
    assert tf.train.latest_checkpoint(folder) == os.path.join(folder, "model.ckpt-5")
