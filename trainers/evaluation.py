"""entrypoint.py eval: which checkpoints are evaluated, when it ends, and what people see of it."""
import fcntl
import glob
import os
import shutil
import time

from data_prep import files
from trainers import best, dataset as datasets, devices as device_choice, early_stop, pipeline, run_dir as runs
from trainers.console import duration
from trainers.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused, refuse_arguments
from trainers.files import read_json, write_json
from trainers.health import Health
from trainers.signals import StopRequest

FOLDER = "eval"
METRICS = "metrics.json"
DRAWING = "detections.png"
# The checkpoint in hand lies here, so that the training may delete its own.
ASIDE = ".in_hand"
MAP = "DetectionBoxes_Precision/mAP"
MAP50 = "DetectionBoxes_Precision/mAP@.50IOU"
POLL_SECS = 5


def evaluate(settings, console, arguments):
    """Evaluates checkpoints of RUN_DIR as EVAL_MODE says; each at most once.

    Returns:
        exit code: 0.
    """
    refuse_arguments("eval", arguments)
    devices = device_choice.for_evaluation(settings, device_choice.gpus_of_this_machine())
    folder = settings.run_dir or runs.default(datasets.locate(settings)[0], settings.trainer.value)
    mode = settings.eval_mode.value
    StopRequest(console.say_from_signal).install()
    health = Health()
    if mode == "once" and runs.newest_checkpoint(folder) is None:
        raise Refused("%s holds no checkpoint to evaluate." % folder, "Train first, or set RUN_DIR.",
                      PREFLIGHT_FAILED)
    console.say("Evaluating checkpoints of %s on %s (EVAL_MODE=%s)." % (
        folder, "one GPU" if devices.kind == "gpu" else "the CPU", mode))
    if not runs.is_training(folder):
        for sentence in runs.torn_checkpoints(folder):
            console.say(sentence + " It is left out.")
    _wait_for_a_run(folder, console, health)
    _Evaluations(folder, settings, console, devices, health).run(mode)
    return 0


def _wait_for_a_run(folder, console, health):
    waited = 0
    while runs.newest_checkpoint(folder) is None:
        if waited % 60 == 0:
            console.say("Waiting for the first checkpoint in %s; Ctrl-C ends it, EVAL_MODE=once does not wait." %
                        folder)
        health.beat("waiting")
        time.sleep(POLL_SECS)
        waited += POLL_SECS


class _Evaluations(object):
    """The evaluations of one run; the graph is built when the first checkpoint is there."""

    def __init__(self, folder, settings, console, devices, health):
        self._folder = folder
        self._settings = settings
        self._console = console
        self._devices = devices
        self._health = health
        self._out = os.path.join(folder, FOLDER)
        if not os.path.isfile(os.path.join(folder, runs.CONFIG)):
            raise Refused("%s holds checkpoints, but no %s beside them." % (folder, runs.CONFIG),
                          "Set RUN_DIR to the folder of a run.", SETTINGS_REFUSED)
        self._config = pipeline.parse(os.path.join(folder, runs.CONFIG))
        self._evaluator = None
        self._left_out = set()
        _check_records(self._config)
        os.makedirs(self._out, exist_ok=True)

    def run(self, mode):
        step = None
        while True:
            checkpoint, step = self._next(step, mode)
            try:
                self._evaluate_once(checkpoint, step)
            except best.Gone as why:
                # Deleted meanwhile, and there are KEEP_CHECKPOINTS newer ones; or torn.
                self._left_out.add(step)
                if os.path.exists(checkpoint + ".index"):
                    self._console.say("Checkpoint %s cannot be evaluated: %s. It is left out." % (checkpoint, why))
                continue
            self._stop_early()
            if mode == "once" or (mode == "until_step" and step >= self._last_step()):
                return
            if runs.newest_checkpoint(self._folder)[1] == step and not self._wait_for_another(step, mode):
                return

    def _next(self, previous, mode):
        """(path, step) to evaluate: the newest for `once`, else the oldest there is after `previous` and not done."""
        newest = runs.newest_checkpoint(self._folder)
        if mode == "once":
            return newest
        done = {entry["step"] for entry in self._read_metrics()["evaluations"]}
        waiting = [(path, step) for path, step in runs.checkpoints(self._folder)
                   if step not in done | self._left_out and (previous is None or step > previous)]
        return waiting[0] if waiting else newest

    def _read_metrics(self):
        return read_json(os.path.join(self._out, METRICS)) or {"evaluations": []}

    def _last_step(self):
        """The run's last step as of now: a resumed run may have been given more."""
        self._config = pipeline.parse(os.path.join(self._folder, runs.CONFIG))
        return self._config.train_config.num_steps

    def _wait_for_another(self, step, mode):
        """False when no other checkpoint can come (until_step), which a free lock on the run shows."""
        while runs.newest_checkpoint(self._folder)[1] == step:
            if mode == "until_step" and not runs.is_training(self._folder):
                if runs.newest_checkpoint(self._folder)[1] != step:
                    break
                self._console.say("No training is running in %s; step %d was its last checkpoint." % (
                    self._folder, step))
                return False
            self._health.beat("waiting")
            time.sleep(POLL_SECS)
        return True

    def _evaluate_once(self, checkpoint, step):
        """Evaluates one checkpoint unless that was done, by this process or another; shows the result."""
        with open(os.path.join(self._out, ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            metrics = self._read_metrics()
            done = [entry for entry in metrics["evaluations"] if entry["step"] == step]
            if done:
                self._console.say("Step %d was evaluated before." % step)
                entry = done[-1]
                self._keep_if_best(checkpoint, entry, metrics)
            else:
                aside = os.path.join(self._out, ASIDE)
                shutil.rmtree(aside, ignore_errors=True)
                in_hand = best.set_aside(checkpoint, aside)
                entry = self._evaluate(in_hand)
                metrics["evaluations"].append(entry)
                self._keep_if_best(in_hand, entry, metrics)
                metrics["best_step"] = _best(metrics)["step"]
                write_json(os.path.join(self._out, METRICS), metrics)
                shutil.rmtree(aside)
        self._show(entry)

    def _keep_if_best(self, checkpoint, entry, metrics):
        """Before metrics.json says that it was evaluated: killed in between, it is evaluated and kept again."""
        kept = best.kept(self._folder)
        if _best(metrics) is entry and (kept is None or kept.step != entry["step"]):
            best.keep(self._folder, checkpoint, entry["step"], MAP, entry["metrics"][MAP])
            self._console.say("Step %d is the best so far by COCO mAP; it is kept in %s." % (
                entry["step"], os.path.join(self._folder, best.FOLDER)))

    def _start_step(self):
        """The step at which the training beside began."""
        return (read_json(os.path.join(self._folder, runs.MANIFEST)) or {}).get("start_step", 0)

    def _stop_early(self):
        """Asks the training beside to stop, where EARLY_STOP_PATIENCE evaluations brought nothing better."""
        patience = self._settings.early_stop_patience
        if not patience or not runs.is_training(self._folder):
            return
        metrics = self._read_metrics()
        steps = [entry["step"] for entry in metrics["evaluations"]]
        since = early_stop.without_improvement(steps, metrics["best_step"], self._start_step())
        if since >= patience and not early_stop.reason(self._folder):
            why = "%d evaluations after step %d were no better (EARLY_STOP_PATIENCE=%d)" % (
                since, metrics["best_step"], patience)
            early_stop.ask(self._folder, why)
            self._console.say("The training is asked to stop at its next checkpoint: %s." % why)

    def _evaluate(self, checkpoint):
        """Evaluates a checkpoint; returns its entry for metrics.json and draws the detections."""
        began = time.time()
        self._health.beat("building")
        if self._evaluator is None:
            self._console.capture(os.path.join(self._out, "eval.log"),
                                  debug=self._settings.log_level.value == "debug")
            self._evaluator = _build(self._config, self._devices)
        expected = self._config.eval_config.num_examples

        def on_picture(count):
            self._health.beat("evaluating")
            self._console.progress(count, expected, "", "picture")

        result = self._evaluator.evaluate(checkpoint, on_picture)
        self._console.end_progress()
        from trainers import draw
        title = "step %d, mAP@.5IOU %.2f; solid: detections with a score of %.1f and more, dashed: truth" % (
            result.step, result.metrics[MAP50], draw.MIN_SCORE)
        records = self._config.eval_input_reader[0].tf_record_input_reader.input_path
        drawing = draw.sheet(draw.with_originals(result.pictures, records), self._evaluator.class_names, title)
        files.write(os.path.join(self._out, DRAWING), drawing)
        _write_events(self._out, result)
        return {"step": result.step, "images": result.images, "images_expected": expected,
                "metrics": {name: value for name, value in result.metrics.items() if value == value},
                "per_class_ap50": result.per_class, "weights": result.weights,
                "secs": round(time.time() - began, 1), "time": round(time.time(), 3)}

    def _show(self, entry):
        from rich.table import Table
        table = Table(title="Step %d, by class" % entry["step"])
        table.add_column("class")
        table.add_column("AP@.5IOU", justify="right")
        for name, value in sorted(entry["per_class_ap50"].items()):
            table.add_row(name, "%.3f" % value)
        self._console.table(table)
        self._console.say("Evaluated %d of %d pictures in %s with %s weights: COCO mAP %.3f, mAP@.5IOU %.3f." % (
            entry["images"], entry["images_expected"], duration(entry["secs"]), entry["weights"],
            entry["metrics"][MAP], entry["metrics"][MAP50]))
        if entry["images"] != entry["images_expected"]:
            raise Refused("%d of %d validation pictures were evaluated." % (
                entry["images"], entry["images_expected"]),
                "The records changed since training began: make the dataset again.", PREFLIGHT_FAILED)
        self._console.say("Detections are drawn in %s." % os.path.join(self._out, DRAWING))
        self._console.say("Results are in %s." % self._folder)


def _best(metrics):
    """The entry with the highest COCO mAP, the earliest of equals."""
    return max(metrics["evaluations"], key=lambda entry: (entry["metrics"][MAP], -entry["step"]))


def _build(config, devices):
    device_choice.hide_the_rest(devices)
    from trainers.quiet import import_tensorflow
    import_tensorflow()
    device_choice.check_session_devices(devices)
    from object_detection.utils import config_util
    from trainers.evaluate import Evaluator
    return Evaluator(config_util.create_configs_from_pipeline_proto(config), device_choice.session_config(devices))


def _check_records(config):
    for pattern in config.eval_input_reader[0].tf_record_input_reader.input_path:
        if not glob.glob(pattern):
            raise Refused("The validation records %s are not there." % pattern,
                          "Make the dataset again, or run from the folder the training ran in.", PREFLIGHT_FAILED)


def _write_events(folder, result):
    import tensorflow.compat.v1 as tf
    writer = tf.summary.FileWriter(folder)
    values = [tf.Summary.Value(tag=name, simple_value=value) for name, value in sorted(result.metrics.items())]
    values += [tf.Summary.Value(tag="AP@.50IOU/" + name, simple_value=value)
               for name, value in result.per_class.items()]
    writer.add_summary(tf.Summary(value=values), result.step)
    writer.close()
