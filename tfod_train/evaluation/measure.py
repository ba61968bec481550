"""One checkpoint, measured on every image of a split once: its entry, its drawing, its TensorBoard events."""

import contextlib
import fcntl
import glob
import shutil
import time
from typing import Any, Dict, Iterator, NamedTuple

from common import files
from common.errors import PREFLIGHT_FAILED, Refused
from tfod_train.checkpoints import best
from tfod_train.devices import devices as device_choice
from tfod_train.process.console import Console, duration
from tfod_train.process.health import Health
from tfod_train.run import evaluations, plugins
from tfod_train.run.run_dir import RunDir
from tfod_train.settings import Settings


class Evaluated(NamedTuple):
    """What is evaluated, how, and where."""

    run_dir: RunDir
    settings: Settings
    devices: device_choice.Devices


class Places(NamedTuple):
    """drawing: the file of the drawn detections. events: the folder of TensorBoard's events."""

    drawing: str
    events: str


class Measure(object):
    """Measures checkpoints of a run; the graph is built when the first is there.

    Args:
        evaluated: the run and what it is measured with.
        config: TrainEvalPipelineConfig; its first eval reader says which images.
        places: where the drawing and the events go.
        console, health: where people and Docker see how far it is.
    """

    def __init__(self, evaluated: Evaluated, config: Any, places: Places, console: Console, health: Health):
        self._run_dir, self._settings, self._devices = evaluated
        self._config, self._places = config, places
        self._console, self._health = console, health
        self._evaluator: Any = None

    def entry(self, checkpoint: str) -> Dict[str, Any]:
        """Evaluates a checkpoint and draws the detections; returns its entry for metrics.json.

        Raises:
            Refused: the split has not the images that it had.
        """
        began = time.time()
        self._health.beat("building")
        if self._evaluator is None:
            self._console.capture(self._run_dir.evaluations.log, debug=self._settings.log_level.value == "debug")
            self._evaluator = _build(self._config, self._devices, plugins.of_run(self._settings.plugins, self._run_dir))
        expected = self._config.eval_config.num_examples

        def on_image(count):
            self._health.beat("evaluating")
            self._console.progress(count, expected, "", "image")

        result = self._evaluator.evaluate(checkpoint, on_image)
        self._console.end_progress()
        if result.images != expected:
            raise Refused(
                f"{result.images} of {expected} images were evaluated.",
                "The records changed since training began: make the dataset again.",
                PREFLIGHT_FAILED,
            )
        self._draw(result)
        _write_events(self._places.events, result)
        entry = {
            "step": result.step,
            "images": result.images,
            "images_expected": expected,
            "metrics": result.metrics,
            "weights": result.weights,
            "secs": round(time.time() - began, 1),
            "time": round(time.time(), 3),
        }
        entry.update((key, _of_classes(result.per_class, of_class)) for key, of_class, _ in evaluations.PER_CLASS)
        return entry

    def _draw(self, result):
        """Draws what the checkpoint finds on validation images."""
        from tfod_train.evaluation import visualization

        map50 = _text(result.metrics.get(evaluations.MAP50), digits=2)
        title = (
            f"step {result.step}, mAP@.5IOU {map50}; solid: detections with a score of {visualization.MIN_SCORE:.1f} "
            "and more, dashed: truth"
        )
        records = self._config.eval_input_reader[0].tf_record_input_reader.input_path
        images = visualization.with_originals(result.kept_images, records)
        files.write(self._places.drawing, visualization.sheet(images, self._evaluator.class_names, title))

    def show(self, entry: Dict[str, Any]) -> None:
        """Shows an entry: the table of the classes, and the sentences."""
        self._console.table(table(entry))
        metrics = entry["metrics"]
        masks = ""
        if evaluations.MASK_MAP in metrics:
            masks = (
                f"; of masks {_text(metrics[evaluations.MASK_MAP])} and {_text(metrics.get(evaluations.MASK_MAP50))}"
            )
        self._console.say(
            f"Evaluated {entry['images']} of {entry['images_expected']} images in {duration(entry['secs'])} "
            f"with {entry['weights']} weights: COCO mAP {_text(metrics.get(evaluations.MAP))}, mAP@.5IOU "
            f"{_text(metrics.get(evaluations.MAP50))}{masks}."
        )
        self._console.say(f"Detections are drawn in {self._places.drawing}.")
        self._console.say(f"Results are in {self._run_dir}.")


@contextlib.contextmanager
def one_at_a_time(out: evaluations.EvaluationDir) -> Iterator[None]:
    """Waits until no other process evaluates the run, and holds that."""
    with open(out.lock, "w") as lock:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def in_hand(out: evaluations.EvaluationDir, checkpoint: str) -> Iterator[str]:
    """The path of a checkpoint that stays while it is evaluated, though the training deletes its own.

    Raises:
        best.Gone: it is not there any more, or torn.
    """
    shutil.rmtree(out.in_hand, ignore_errors=True)
    try:
        yield best.set_aside(checkpoint, out.in_hand)
    finally:
        shutil.rmtree(out.in_hand, ignore_errors=True)


def check_records(config: Any) -> None:
    """Raises Refused where records of the first eval reader are not there."""
    for pattern in config.eval_input_reader[0].tf_record_input_reader.input_path:
        if not glob.glob(pattern):
            raise Refused(
                f"The records {pattern}, which are evaluated, are not there.",
                "Make the dataset again, or run from the folder the training ran in.",
                PREFLIGHT_FAILED,
            )


def table(entry: Dict[str, Any]) -> Any:
    """rich.table.Table of an entry of metrics.json, a row a class that has validation boxes."""
    from rich.markup import escape
    from rich.table import Table

    columns = [(key, heading) for key, _, heading in evaluations.PER_CLASS if entry.get(key)]
    made = Table(title=f"Step {entry['step']}, by class")
    made.add_column("class")
    for _, heading in columns:
        made.add_column(heading, justify="right")
    for name in sorted({name for key, _ in columns for name in entry[key]}):
        made.add_row(escape(name), *[_text(entry[key].get(name)) for key, _ in columns])
    return made


def _of_classes(per_class, of_class):
    """What is known of each class by its name, without those of which it is not."""
    known = {name: getattr(one, of_class) for name, one in per_class.items() if one.boxes}
    return {name: value for name, value in known.items() if value is not None}


def _text(value, digits=3):
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.{digits}f}"


def _build(config, devices, wanted_plugins):
    device_choice.hide_the_rest(devices)
    from tfod_train.process.tensorflow_log import import_tensorflow

    import_tensorflow()
    device_choice.check_session_devices(devices)
    plugins.load(wanted_plugins)
    from object_detection.utils import config_util

    from tfod_train.evaluation.evaluator import Evaluator

    return Evaluator(config_util.create_configs_from_pipeline_proto(config), device_choice.session_config(devices))


def _write_events(folder, result):
    import tensorflow.compat.v1 as tf

    writer = tf.summary.FileWriter(folder)
    values = [tf.Summary.Value(tag=name, simple_value=value) for name, value in sorted(result.metrics.items())]
    for tag, of_class in (("AP@.50IOU/", "ap50"), ("COCO_AP/", "ap"), ("COCO_mask_AP/", "mask_ap")):
        values += [
            tf.Summary.Value(tag=tag + name, simple_value=value)
            for name, value in _of_classes(result.per_class, of_class).items()
        ]
    writer.add_summary(tf.Summary(value=values), result.step)
    writer.close()
