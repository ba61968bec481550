"""What steps leave behind, on a graph of one variable: the progress line, metrics.jsonl, TensorBoard's scalars."""

import glob
import io
import json

import pytest

from tfod_train.devices.gpu_monitor import Use

pytestmark = pytest.mark.tensorflow


class TwoGpus(object):
    """A GpuWatch of which the second GPU does nothing, as it is found after three steps."""

    def __init__(self):
        self.steps = 0

    def step(self, began, ended):
        assert ended >= began
        self.steps += 1

    def now(self):
        return [Use(87.25, 4096), Use(None, 300)] if self.steps else []

    def newly_idle(self):
        return [("3", 1.6)] if self.steps == 3 else []


class Now(object):
    """A clock that goes on by 10 s whenever it is read."""

    def __init__(self):
        self.secs = 0

    def __call__(self):
        self.secs += 10
        return self.secs


@pytest.fixture(scope="module")
def api_on_path(api_dir):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(api_dir)
        yield


@pytest.fixture(scope="module")
def left_by(tmp_path_factory, training_of, api_on_path):
    """function(gpu_watch) -> (console lines, metrics.jsonl's records, scalars by (tag, step)) of eight steps."""
    import tensorflow.compat.v1 as tf

    from tfod_train import observers
    from tfod_train.hooks import summaries
    from tfod_train.hooks.step import StepHook

    def steps(gpu_watch):
        folder = str(tmp_path_factory.mktemp("run"))
        terminal, clock = io.StringIO(), Now()
        with tf.Graph().as_default():
            loss = tf.get_variable("v", initializer=2.0) * 3
            train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
            tf.summary.scalar("Losses/TotalLoss", loss)
            tf.summary.scalar("Losses/Loss/classification_loss", loss - 1.5)
            tf.summary.scalar("Losses/clone_loss", loss)
            tf.summary.scalar("clone_1/Losses/Loss/classification_loss", loss)
            tf.summary.scalar("learning_rate", tf.constant(0.1, name="learning_rate"), family="LearningRate")
            training = training_of(folder, terminal, clock, gpu_watch)
            hook = StepHook(observers.make(training), loss, clock)
            scalars = summaries.ScalarsHook(training.run.run_dir, training.speed, tf.summary.merge_all())
            with tf.train.MonitoredTrainingSession(hooks=[hook, scalars]) as session:
                while not session.should_stop():
                    session.run(train)
        with open(folder + "/metrics.jsonl") as metrics:
            records = [json.loads(line) for line in metrics]
        events = [
            (value.tag, event.step, value.simple_value)
            for path in glob.glob(folder + "/events.*")
            for event in tf.train.summary_iterator(path)
            for value in event.summary.value
        ]
        return terminal.getvalue().splitlines(), records, {(tag, step): value for tag, step, value in events}

    return steps


@pytest.fixture(scope="module")
def with_gpus(left_by):
    return left_by(TwoGpus())


def test_metrics_have_the_use_of_each_gpu_from_the_second_step_on(with_gpus):
    _, records, _ = with_gpus
    assert [record["step"] for record in records][:8] == list(range(1, 9))
    assert "gpus" not in records[0]
    assert {record["learning_rate"] for record in records} == {0.1}
    assert [record["losses"] for record in records] == [{"Loss/classification_loss": 4.5}] * len(records)
    assert all(
        record["gpus"] == [{"percent": 87.2, "memory_mib": 4096}, {"percent": None, "memory_mib": 300}]
        for record in records[1:]
    )


def test_the_progress_line_has_it_and_an_idle_gpu_is_named_once(with_gpus):
    lines, _, _ = with_gpus
    assert [line for line in lines if line.startswith("step")][-1].startswith("step 8 of 8  loss 6.000  ")
    assert "images/s  GPU 87/? % 4.0 GiB  " in [line for line in lines if line.startswith("step")][-1]
    assert [line for line in lines if line.startswith("GPU")] == [
        "GPU 3 was busy for 2 % of a minute of steps. Its share of the work may be too small: a larger BATCH_SIZE "
        "gives it more, a smaller NUM_GPUS leaves it out."
    ]


def test_tensorboard_has_what_is_known(with_gpus):
    _, _, scalars = with_gpus
    assert scalars["gpu_0/percent", 8] == 87.25
    assert (scalars["gpu_0/memory_mib", 8], scalars["gpu_1/memory_mib", 8]) == (4096, 300)
    assert ("gpu_1/percent", 8) not in scalars


def test_without_a_gpu_nothing_is_said_of_any(left_by):
    lines, records, scalars = left_by(None)
    assert not [line for line in lines if "GPU" in line]
    assert all("gpus" not in record for record in records) and len(records) >= 8
    assert not [tag for tag, _ in scalars if tag.startswith("gpu")]
