"""Which checkpoints are evaluated and when it ends, with an evaluator and a clock that are made up."""

import fcntl
import json
import os
import types

import pytest

from common.errors import Refused
from tfod_train.checkpoints import best, integrity
from tfod_train.evaluation import checkpoint_loop, measure, visualization
from tfod_train.run import evaluations

pytestmark = pytest.mark.usefixtures("protos")
MAP, MAP50 = evaluations.MAP, evaluations.MAP50
LAST_STEP = 6


class Said(object):
    """A console that remembers."""

    def __init__(self):
        self.lines = []
        self.say = self.lines.append
        self.say_from_signal = self.capture = self.table = self.progress = lambda *args, **kwargs: None
        self.end_progress = lambda: None

    @property
    def text(self):
        return "\n".join(self.lines)


class Run(object):
    """A RUN_DIR whose training and evaluator are played by the test.

    `values`: COCO mAP by step. `later`: functions, one called each time the evaluation sleeps; when there are none
    left it is stopped. `evaluated`: the steps that were, in order.
    """

    def __init__(self, folder, write_checkpoint, config):
        self.folder = str(folder)
        self.values, self.later, self.evaluated, self.console = {}, [], [], Said()
        self.reported = []  # how many were evaluated each time that the report was written
        self.images, self.slept, self.training, self.weights = 2, 0, None, "raw"
        self._write_checkpoint = write_checkpoint
        os.makedirs(self.folder)
        with open(os.path.join(self.folder, "pipeline.config"), "w") as file:
            file.write(config)

    def save(self, *steps, values=None):
        for step in steps:
            self._write_checkpoint(os.path.join(self.folder, f"model.ckpt-{step}"), *([values] if values else []))

    def delete(self, step):
        for path in integrity.files_of(os.path.join(self.folder, f"model.ckpt-{step}")):
            os.unlink(path)

    def begin_training(self):
        self.training = open(os.path.join(self.folder, ".lock"), "w")
        fcntl.flock(self.training, fcntl.LOCK_EX)

    def end_training(self):
        self.training.close()

    def evaluate(self, checkpoint, on_image):
        step = int(checkpoint.rpartition("-")[2])
        self.evaluated.append(step)
        value = self.values.get(step, 0.5)
        metrics = {} if value is None else {MAP: value, MAP50: value}
        return types.SimpleNamespace(
            step=step, images=self.images, metrics=metrics, per_class={}, weights=self.weights, kept_images=[]
        )

    class_names = {}

    def metrics(self):
        with open(os.path.join(self.folder, "eval", "metrics.json")) as file:
            return json.load(file)

    @property
    def best(self):
        kept = best.kept(self.folder)
        return kept and kept.step


class Stopped(BaseException):
    """The evaluation would have slept for ever."""


@pytest.fixture
def run(tmp_path, write_checkpoint, monkeypatch, read_settings, project_dir):
    with open(os.path.join(project_dir, "tests", "end_to_end", "scenarios", "tiny_ssd.config")) as file:
        config = file.read()
    (tmp_path / "val.record").write_bytes(b"")
    config = config.replace('metrics_set: "coco_detection_metrics"', "num_examples: 2").replace(
        "eval_input_reader {",
        f'eval_input_reader {{ tf_record_input_reader {{ input_path: "{tmp_path / "val.record"}" }}',
    )
    run = Run(tmp_path / "run", write_checkpoint, config)
    now = [1000.0]

    def sleep(secs):
        now[0] += secs
        run.slept += secs
        if not run.later:
            raise Stopped
        run.later.pop(0)()

    monkeypatch.setattr(checkpoint_loop, "time", types.SimpleNamespace(sleep=sleep, time=lambda: now[0]))
    monkeypatch.setattr(measure, "_build", lambda config, devices, plugins: run)
    monkeypatch.setattr(measure, "_write_events", lambda folder, result: None)
    monkeypatch.setattr(visualization, "sheet", lambda *args: b"of step %d" % run.evaluated[-1])
    monkeypatch.setattr(checkpoint_loop, "Health", lambda: types.SimpleNamespace(beat=lambda phase: None))

    def evaluate(mode="until_step", **settings):
        run.console = Said()
        checkpoint_loop.run(
            read_settings(DEVICE="cpu", RUN_DIR=run.folder, EVAL_MODE=mode, **settings),
            run.console,
            lambda run_dir: run.reported.append(len(run.evaluated)),
        )
        return 0

    run.start = evaluate
    return run


def nothing():
    pass


class TestOnce(object):
    def test_takes_the_newest_alone_and_not_twice(self, run):
        run.save(2, 4)
        assert run.start("once") == 0
        assert run.start("once") == 0
        assert run.evaluated == [4] and "Step 4 was evaluated before." in run.console.lines

    @pytest.mark.parametrize(
        "weights, asked, named",
        [
            ("raw", "0", False),
            ("raw (the checkpoint holds moving averages too)", "1", True),
            ("raw (the checkpoint holds no moving averages)", "1", False),
            ("moving-average", "1", False),
            ("moving-average", "0", True),
            ("moving-average", "", False),
        ],
    )
    def test_what_was_evaluated_with_other_weights_than_asked_for_is_said_so(self, run, weights, asked, named):
        run.save(4)
        run.weights = weights
        run.start("once")
        run.start("once", USE_MOVING_AVERAGE=asked)
        assert run.evaluated == [4]
        assert (
            any(
                line.startswith(f"Step 4 was evaluated before, with {weights} weights; delete ")
                for line in run.console.lines
            )
            == named
        )

    def test_without_a_checkpoint_is_refused_without_waiting(self, run):
        with pytest.raises(Refused, match="holds no checkpoint to evaluate") as refused:
            run.start("once")
        assert refused.value.code == 3 and run.slept == 0


class TestUntilStep(object):
    def test_takes_all_in_order_and_ends_with_the_last(self, run):
        run.save(2, 4, 6)
        assert run.start() == 0
        assert run.evaluated == [2, 4, 6] and run.slept == 0 and run.reported == [1, 2, 3]

    def test_takes_those_that_were_written_while_it_was_down(self, run):
        run.save(2)
        run.start("once")
        run.save(4, 6)
        run.start()
        assert run.evaluated == [2, 4, 6]

    def test_waits_while_a_training_runs_and_ends_with_it(self, run):
        run.save(2)
        run.begin_training()
        run.later = [nothing, lambda: run.save(4), nothing, run.end_training]
        assert run.start() == 0
        assert run.evaluated == [2, 4]
        assert f"No training is running in {run.folder}; step 4 was its last checkpoint." in run.console.lines

    def test_takes_what_the_training_saved_as_it_ended(self, run):
        run.save(2)
        run.begin_training()
        run.later = [lambda: (run.save(3), run.end_training())]
        run.start()
        assert run.evaluated == [2, 3]

    def test_waits_for_a_training_that_is_started_together_with_it(self, run):
        """`docker compose up train eval` of a run that was stopped and evaluated."""
        run.save(2)
        run.start("once")
        run.later = [nothing, nothing, run.begin_training, lambda: run.save(6)]
        assert run.start() == 0
        assert run.evaluated == [2, 6]

    def test_waits_for_the_training_that_was_given_more_steps(self, run):
        run.save(2, 4, 6)
        run.later = [run.begin_training, lambda: run.save(8)]
        assert run.start(NUM_STEPS="8") == 0
        assert run.evaluated == [2, 4, 6, 8]

    def test_does_not_wait_for_long_where_none_comes(self, run):
        run.save(2)
        run.later = [nothing] * 100
        assert run.start() == 0
        assert run.slept == 60 and "No training is running" in run.console.text

    def test_the_first_checkpoint_is_waited_for_unless_the_training_ends_without_one(self, run):
        run.later = [nothing, run.begin_training, nothing, run.end_training, nothing]
        with pytest.raises(Refused, match="ended without a checkpoint") as refused:
            run.start()
        assert refused.value.code == 3 and "Waiting for the first checkpoint" in run.console.text


def test_continuous_never_ends_by_itself(run):
    run.save(6)
    run.later = [nothing, lambda: run.save(8), nothing]
    with pytest.raises(Stopped):
        run.start("continuous")
    assert run.evaluated == [6, 8]


class TestEachAtMostOnce(object):
    def test_one_that_is_deleted_before_its_turn_is_left_out(self, run, monkeypatch):
        run.save(2, 4, 6)
        evaluate = run.evaluate
        monkeypatch.setattr(run, "evaluate", lambda *args: (run.delete(4), evaluate(*args))[1])
        assert run.start() == 0
        assert run.evaluated == [2, 6]

    def test_one_that_is_deleted_while_it_is_evaluated_is_evaluated_and_kept(self, run, monkeypatch):
        run.save(2, 6)
        run.values = {2: 0.9}
        evaluate = run.evaluate

        def delete_and_evaluate(checkpoint, on_image):
            run.delete(2)
            assert integrity.problem(checkpoint, values=True) is None
            return evaluate(checkpoint, on_image)

        monkeypatch.setattr(run, "evaluate", delete_and_evaluate)
        run.start()
        assert run.evaluated == [2, 6] and run.best == 2

    def test_a_torn_one_is_named_and_left_out(self, run):
        run.save(2, 4)
        with open(os.path.join(run.folder, "model.ckpt-2.data-00000-of-00001"), "r+b") as shard:
            shard.write(b"\1")
        run.later = [nothing] * 12
        assert run.start() == 0
        assert run.evaluated == [4] and "cannot be evaluated: the checksum of v does not match" in run.console.text

    def test_another_checkpoint_of_the_same_step_is_another(self, run):
        """The checkpoints were deleted to begin afresh, and the evaluations were not."""
        run.values = {6: 0.9}
        run.save(4, 6)
        run.start()
        run.delete(6)
        run.save(6, values=b"\0" * 16)
        run.values = {6: 0.3}
        run.start()
        assert run.evaluated == [4, 6, 6]
        assert "another checkpoint of step 6" in run.console.text
        entries = run.metrics()["evaluations"]
        assert [(entry["step"], entry["metrics"][MAP]) for entry in entries] == [(4, 0.5), (6, 0.3)]

    def test_killed_before_it_was_written_down_it_is_evaluated_again(self, run, monkeypatch):
        run.save(6)

        def killed(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(checkpoint_loop, "write_json", killed)
            run.start()
        assert run.start() == 0
        assert run.evaluated == [6, 6] and run.best == run.metrics()["best_step"] == 6

    def test_too_few_images_are_an_error_and_no_evaluation(self, run):
        run.save(6)
        run.images = 1
        with pytest.raises(Refused, match="1 of 2 images were evaluated"):
            run.start()
        assert os.listdir(os.path.join(run.folder, "eval")) == [".lock"] and run.best is None
        run.images = 2
        assert run.start() == 0
        assert run.evaluated == [6, 6]


class TestBest(object):
    def test_the_highest_map_is_kept_and_of_equals_the_earliest(self, run):
        run.values = {2: 0.3, 4: 0.7, 6: 0.7}
        run.save(2, 4, 6)
        run.start()
        assert run.best == run.metrics()["best_step"] == 4
        for name, step in (("detections.png", 6), ("best_detections.png", 4)):
            with open(os.path.join(run.folder, "eval", name), "rb") as drawing:
                assert drawing.read() == b"of step %d" % step

    def test_the_best_of_another_training_gives_way(self, run):
        """Its step is the best again, but its weights are others."""
        run.save(6)
        run.start()
        run.delete(6)
        run.save(6, values=b"\0" * 16)
        run.start()
        with open(os.path.join(run.folder, "best", "model.ckpt-6.data-00000-of-00001"), "rb") as shard:
            assert shard.read() == b"\0" * 16

    def test_without_a_validation_box_nothing_is_claimed(self, run):
        run.values = {6: None}
        run.save(6)
        assert run.start() == 0
        assert "COCO mAP -, mAP@.5IOU -." in run.console.text


class TestEarlyStop(object):
    def test_patience_is_counted_in_evaluations_that_were_no_better(self, run):
        run.values = {2: 0.7, 3: 0.6, 4: 0.5}
        run.save(2)
        run.begin_training()
        run.later = [lambda: run.save(3), lambda: run.save(4), run.end_training]
        run.start(EARLY_STOP_PATIENCE="2")
        with open(os.path.join(run.folder, "stop_early.json")) as file:
            assert json.load(file)["why"] == "2 evaluations after step 2 were no better (EARLY_STOP_PATIENCE=2)"

    def test_no_one_is_asked_where_no_training_runs_or_it_gets_better(self, run):
        run.values = {2: 0.7, 4: 0.6, 6: 0.5}
        run.save(2, 4, 6)
        run.start(EARLY_STOP_PATIENCE="1")
        assert not os.path.exists(os.path.join(run.folder, "stop_early.json"))


def test_damaged_results_are_named(run):
    run.save(6)
    os.makedirs(os.path.join(run.folder, "eval"))
    with open(os.path.join(run.folder, "eval", "metrics.json"), "w") as file:
        file.write("{")
    with pytest.raises(Refused, match="metrics.json is damaged"):
        run.start()
