"""TensorBoard's tags are the same for both trainers; ../observers/test_observers.py has what the hook writes."""

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]


@pytest.mark.parametrize(
    "tag, kept",
    [
        ("Losses/TotalLoss", "Losses/TotalLoss"),
        ("Losses/Loss/classification_loss", "Losses/Loss/classification_loss"),
        ("Losses/regularization_loss", "Losses/regularization_loss"),
        ("clone_0/TargetAssignment/Anchors", "TargetAssignment/Anchors"),
        ("LearningRate/LearningRate", "LearningRate/LearningRate"),
        ("loss", None),
        ("loss_1", None),
        ("global_norm/gradient_norm", None),
        ("clone_0/Losses/clone_loss", None),
        ("Losses/clone_loss", None),
        ("Losses/regularization_loss_1", None),
    ],
)
def test_what_only_one_trainer_says_twice_is_left_out(tag, kept):
    from tfod_train.hooks import summaries

    assert summaries.name(tag) == kept


def test_a_summary_keeps_its_values_under_the_new_tags():
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks import summaries

    values = [("clone_0/a", 1.0), ("loss", 2.0), ("b", 3.0)]
    written = tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value) for tag, value in values])
    kept = summaries.of_both(written.SerializeToString())
    assert [(value.tag, value.simple_value) for value in kept.value] == [("a", 1.0), ("b", 3.0)]


def test_of_a_step_the_parts_of_the_loss_and_the_rate_are_fetched():
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks import summaries

    with tf.Graph().as_default():
        for tag in ("Losses/TotalLoss", "Losses/Loss/a", "Losses/clone_loss", "other"):
            tf.summary.scalar(tag, tf.constant(1.0))
        tf.summary.scalar("rate", tf.constant(0.5), family="LearningRate")
        tf.summary.histogram("Losses/weights", tf.zeros([3]))
        found = summaries.of_step()
        assert sorted(found) == ["LearningRate/LearningRate/rate", "Losses/Loss/a"]
        with tf.Session() as session:
            assert session.run(found) == {"LearningRate/LearningRate/rate": 0.5, "Losses/Loss/a": 1.0}


def test_summaries_are_fetched_at_the_first_step_and_then_each_hundred(tmp_path):
    from tfod_train.hooks import summaries
    from tfod_train.observers.speed import Speed
    from tfod_train.run.run_dir import RunDir

    speed, fetched = Speed(1, 0), []
    hook = summaries.ScalarsHook(RunDir(tmp_path), speed, "all of them")
    # As of a run that resumes: what is done before step 151 is step 150.
    for step in range(150, 301):
        speed.step = step
        wanted = hook.before_run(None)
        if wanted is not None:
            assert wanted.fetches == "all of them"
            fetched.append(step)
            hook._written_at = step
    assert fetched == [150, 200, 300]
