"""Which checkpoints of a run are evaluated, when that ends, and what people see of it."""

import os
import time
from typing import Callable

from common import files
from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from common.json_files import read_json, write_json
from tfod_train.checkpoints import best, weights
from tfod_train.devices import devices as device_choice
from tfod_train.evaluation import measure
from tfod_train.process.console import Console
from tfod_train.process.health import Health
from tfod_train.run import evaluations, stop_request
from tfod_train.run.run_dir import CONFIG, RunDir
from tfod_train.settings import Settings

POLL_SECS = 5
# `docker compose up train eval` starts both at once, and the training looks at devices and data before it locks its
# run: until then an evaluation of a run to be resumed must not take it for ended.
TRAINING_STARTS_WITHIN_SECS = 60


def run(settings: Settings, console: Console, after_each: Callable[[RunDir], None]) -> None:
    """Evaluates checkpoints of RUN_DIR as EVAL_MODE says; each at most once.

    Args:
        settings: RUN_DIR, EVAL_MODE and what an evaluation needs.
        console: where people see the results.
        after_each: function(run_dir), called when an evaluation is written down and before its result is shown.

    Raises:
        Refused: there is nothing to evaluate, or what is needed for it is not there.
    """
    devices = device_choice.for_evaluation(settings, device_choice.gpus_of_this_machine())
    run_dir = RunDir.of(settings)
    mode = settings.eval_mode.value
    health = Health()
    if mode == "once" and run_dir.newest_checkpoint() is None:
        raise _nothing(run_dir)
    place = "one GPU" if devices.kind == "gpu" else "the CPU"
    console.say(f"Evaluating checkpoints of {run_dir} on {place} (EVAL_MODE={mode}).")
    if not run_dir.is_training():
        for sentence in run_dir.torn_checkpoints():
            console.say(sentence + " It is left out.")
    _wait_for_a_run(run_dir, mode, console, health)
    _Evaluations(measure.Evaluated(run_dir, settings, devices), console, health, after_each).run(mode)


def _nothing(run_dir):
    return Refused(f"{run_dir} holds no checkpoint to evaluate.", "Train first, or set RUN_DIR.", PREFLIGHT_FAILED)


def _wait_for_a_run(run_dir, mode, console, health):
    waited, seen_training = 0, False
    while run_dir.newest_checkpoint() is None:
        training = run_dir.is_training()
        if mode == "until_step" and seen_training and not training and run_dir.newest_checkpoint() is None:
            raise Refused(
                f"The training in {run_dir} ended without a checkpoint.",
                f"Its last lines, also in {run_dir.log}, say why.",
                PREFLIGHT_FAILED,
            )
        seen_training |= training
        if waited % 60 == 0:
            console.say(f"Waiting for the first checkpoint in {run_dir}; Ctrl-C ends it, EVAL_MODE=once does not wait.")
        health.beat("waiting")
        time.sleep(POLL_SECS)
        waited += POLL_SECS


class _Evaluations(object):
    """The evaluations of one run; the graph is built when the first checkpoint is there."""

    def __init__(self, evaluated, console, health, after_each):
        self._run_dir, self._settings, self._devices = evaluated
        self._console = console
        self._health = health
        self._after_each = after_each
        self._began = time.time()
        self._seen_training = False
        self._out = self._run_dir.evaluations
        if not self._run_dir.holds_a_config():
            raise Refused(
                f"{self._run_dir} holds checkpoints, but no {CONFIG} beside them.",
                "Set RUN_DIR to the folder of a run.",
                SETTINGS_REFUSED,
            )
        self._config = self._run_dir.config_for(self._settings)
        self._left_out = set()
        measure.check_records(self._config)
        os.makedirs(self._out.path, exist_ok=True)
        places = measure.Places(self._out.detections, self._out.path)
        self._measure = measure.Measure(evaluated, self._config, places, console, health)

    def run(self, mode):
        while True:
            checkpoint, step = (mode != "once" and self._oldest_waiting()) or self._newest()
            try:
                self._evaluate_once(checkpoint, step)
            except best.Gone as why:
                # Deleted meanwhile, and there are KEEP_CHECKPOINTS newer ones; or torn.
                self._left_out.add(checkpoint)
                if os.path.exists(checkpoint + ".index"):
                    self._console.say(f"Checkpoint {checkpoint} cannot be evaluated: {why}. It is left out.")
                continue
            self._stop_early()
            if mode == "once" or not self._wait_for_another(mode):
                return

    def _newest(self):
        newest = self._run_dir.newest_checkpoint()
        if newest is None or newest[0] in self._left_out:
            raise _nothing(self._run_dir)
        return newest

    def _oldest_waiting(self):
        """(path, step) of the oldest checkpoint that was not evaluated; None where there is none."""
        metrics = self._read_metrics()
        for path, step in self._run_dir.checkpoints():
            if path not in self._left_out and evaluations.done(metrics, step, evaluations.identity(path)) is None:
                return path, step
        return None

    def _read_metrics(self):
        return read_json(self._out.metrics, "Move it away; what is still there is evaluated again.") or {
            "evaluations": []
        }

    def _last_step(self):
        """The run's last step as of now: a resumed run may have been given more, or be about to."""
        self._config = self._run_dir.config_for(self._settings)
        return max(self._config.train_config.num_steps, self._settings.num_steps or 0)

    def _wait_for_another(self, mode):
        """False when no other checkpoint can come (until_step): the last step is there, or no training is."""
        while not self._oldest_waiting():
            if mode == "until_step":
                step = self._newest()[1]
                if step >= self._last_step():
                    return False
                if not self._may_go_on():
                    if self._oldest_waiting():
                        break
                    self._console.say(
                        f"No training is running in {self._run_dir}; step {step} was its last checkpoint."
                    )
                    return False
            self._health.beat("waiting")
            time.sleep(POLL_SECS)
        return True

    def _may_go_on(self):
        """Whether a training runs, which its lock shows, or was perhaps started together with this evaluation."""
        training = self._run_dir.is_training()
        self._seen_training |= training
        return training or (not self._seen_training and time.time() - self._began < TRAINING_STARTS_WITHIN_SECS)

    def _evaluate_once(self, checkpoint, step):
        """Evaluates one checkpoint unless that was done, by this process or another; shows the result."""
        with measure.one_at_a_time(self._out):
            metrics, identity = self._read_metrics(), evaluations.identity(checkpoint)
            entry = evaluations.done(metrics, step, identity)
            if entry is not None:
                self._console.say(f"Step {step} was evaluated before{self._otherwise(entry)}.")
                self._keep_if_best(checkpoint, entry, metrics)
            else:
                entry = self._evaluate_in_hand(checkpoint, step, dict(metrics))
        self._after_each(self._run_dir)
        self._measure.show(entry)

    def _evaluate_in_hand(self, checkpoint, step, metrics):
        with measure.in_hand(self._out, checkpoint) as in_hand:
            entry = dict(self._measure.entry(in_hand), checkpoint=evaluations.identity(in_hand))
            before = [one for one in metrics["evaluations"] if one["step"] != step]
            if len(before) < len(metrics["evaluations"]):
                self._console.say(
                    f"What was known of another checkpoint of step {step}, from before this training, is replaced."
                )
            metrics["evaluations"] = before + [entry]
            self._keep_if_best(in_hand, entry, metrics)
            if evaluations.best(metrics) is entry:
                with open(self._out.detections, "rb") as drawn:
                    files.write(self._out.best_detections, drawn.read())
            metrics["best_step"] = evaluations.best(metrics)["step"]
            write_json(self._out.metrics, metrics)
        return entry

    def _otherwise(self, entry):
        """Words on an evaluation with other weights than the settings ask for; "" for one with the same."""
        averages = self._settings.use_moving_average
        raw = entry["weights"].startswith("raw")
        if averages is None or averages != raw or (averages and entry["weights"] == weights.NO_AVERAGES):
            return ""
        return (
            f", with {entry['weights']} weights; delete {self._out.metrics} to have all evaluated "
            f"as USE_MOVING_AVERAGE={averages:d} says"
        )

    def _keep_if_best(self, checkpoint, entry, metrics):
        """Before metrics.json says that it was evaluated: killed in between, it is evaluated and kept again."""
        kept = best.kept(self._run_dir.path)
        there = kept and (kept.step, evaluations.identity(kept.checkpoint))
        if evaluations.best(metrics) is entry and there != (entry["step"], evaluations.identity(checkpoint)):
            best.keep(
                self._run_dir.path,
                checkpoint,
                entry["step"],
                evaluations.MAP,
                entry["metrics"].get(evaluations.MAP, 0.0),
            )
            self._console.say(
                f"Step {entry['step']} is the best so far by COCO mAP; it is kept in {self._run_dir.file(best.FOLDER)}."
            )

    def _start_step(self):
        """The step at which the training beside began."""
        return self._run_dir.read_manifest().get("start_step", 0)

    def _stop_early(self):
        """Asks the training beside to stop, where EARLY_STOP_PATIENCE evaluations brought nothing better."""
        patience = self._settings.early_stop_patience
        if not patience or not self._run_dir.is_training():
            return
        metrics = self._read_metrics()
        steps = [entry["step"] for entry in metrics["evaluations"]]
        since = stop_request.without_improvement(steps, metrics["best_step"], self._start_step())
        if since >= patience and not stop_request.reason(self._run_dir):
            why = (
                f"{since} evaluations after step {metrics['best_step']} were no better (EARLY_STOP_PATIENCE={patience})"
            )
            stop_request.ask(self._run_dir, why)
            self._console.say(f"The training is asked to stop at its next checkpoint: {why}.")
