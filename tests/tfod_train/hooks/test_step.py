"""What steps leave behind, on a graph of one variable: the progress line, metrics.jsonl, TensorBoard's scalars."""

import glob
import io
import json
import sys
import time

import pytest

from tfod_train.devices.gpu_monitor import Use

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def api_on_path(api_dir):
    sys.path.insert(0, api_dir)
    yield
    sys.path.remove(api_dir)


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


def training_of(folder, terminal, clock=time.time, gpu_watch=None, beat=lambda: None):
    """The Training of eight steps of 16 images."""
    from google.protobuf import text_format
    from object_detection.protos import pipeline_pb2

    from tfod_train import observers
    from tfod_train.observers.speed import Speed
    from tfod_train.process.console import Console
    from tfod_train.process.health import Health
    from tfod_train.process.signals import StopRequest
    from tfod_train.run.context import Run
    from tfod_train.run.run_dir import RunDir

    config = text_format.Parse("train_config { batch_size: 16 num_steps: 8 }", pipeline_pb2.TrainEvalPipelineConfig())
    return observers.Training(
        Run(None, None, None, None, config, [], RunDir(folder)),
        Console(terminal, clock),
        Speed(16, 0, gpu_watch),
        Health(folder + "/health.json"),
        StopRequest(terminal.write),
        beat,
    )


@pytest.fixture(scope="module")
def left_by(tmp_path_factory, api_on_path):
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


@pytest.mark.parametrize(
    "before, kept",
    [
        (b'{"step": 1}\n{"step": 2}\n', b'{"step": 1}\n{"step": 2}\n'),
        (b'{"step": 1}\n{"st', b'{"step": 1}\n'),
        (b'{"st', b""),
        (None, None),
    ],
)
def test_half_a_line_that_a_killed_training_left_gets_no_record_appended(before, kept, tmp_path, api_on_path):
    from tfod_train.observers.metrics_file import MetricsFile

    metrics = tmp_path / "metrics.jsonl"
    if before is not None:
        metrics.write_bytes(before)
    MetricsFile(training_of(str(tmp_path), io.StringIO())).on_begin(2)
    assert (metrics.read_bytes() if metrics.exists() else None) == kept


@pytest.mark.parametrize("asked_at, ended_at", [(1, 1), (3, 3), (None, 8)])
def test_a_training_that_is_asked_to_stop_makes_no_further_step(asked_at, ended_at, tmp_path, api_on_path):
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
