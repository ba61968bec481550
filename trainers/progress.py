"""One step hook for both trainers: progress, metrics.jsonl, health, idle GPUs, divergence, stopping by signal."""

import collections
import json
import math
import os
import time

import tensorflow.compat.v1 as tf

from trainers import batch_ids, diverged, gpu_use, input_wait, scalars
from trainers.console import duration
from trainers.gpu_use import GpuWatch
from trainers.run_dir import METRICS

WINDOW_SECS = 30
STEPS_FOR_A_RATE = 5
METRICS_EVERY_SECS = 5
PICTURES_SHOWN = 12
MUCH_WAITING_PERCENT = 50


class StepHook(tf.train.SessionRunHook):
    """Follows the steps of a training session.

    Args:
        console: Console.
        health: Health.
        stop: trainers.signals.StopRequest.
        run_dir: where metrics.jsonl is appended to.
        total_steps: the run's last step.
        batch_size: images per step over all devices.
        began: when the run began, by `clock`.
        heard: function() called after every step.
        records: file patterns of the training records, for the ids of pictures.
        loss: scalar tensor; None takes the loss that the Estimator put last into the LOSSES collection.
        gpu_watch: GpuWatch of the devices; None where there is nothing to watch.
        clock: seconds; for tests.
    """

    def __init__(
        self,
        console,
        health,
        stop,
        run_dir,
        total_steps,
        batch_size,
        began,
        heard=lambda: None,
        records=(),
        loss=None,
        gpu_watch=None,
        clock=time.time,
    ):
        self._console = console
        self._health = health
        self._stop = stop
        self._run_dir = run_dir
        self._total_steps = total_steps
        self._batch_size = batch_size
        self._began = began
        self._heard = heard
        self._records = records
        self._loss = loss
        self._gpu_watch = gpu_watch or GpuWatch([])
        self._clock = clock
        # (time, step, seconds waited for input or None) of the last WINDOW_SECS, without the first step
        self._recent = collections.deque()
        self._written_at = 0
        self._pictures = []  # of the last step and the one before, as batch_ids.tensors gives them
        self._values = {}  # of the last step, by the tags of scalars.of_step
        self.step = None
        self.first_step_secs = None
        self.last_loss = None

    def begin(self):
        self._global_step = tf.train.get_or_create_global_step()
        if self._loss is None:
            self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
        self._ids = batch_ids.tensors()
        self._input_times = input_wait.times(self._loss)
        self._scalars = scalars.of_step()
        _end_the_last_line(os.path.join(self._run_dir, METRICS))

    def after_create_session(self, session, coord):
        self.step = int(session.run(self._global_step))
        self._stop.in_steps = True

    def before_run(self, run_context):
        self._step_began = self._clock()
        # Not the global step: within a step's run it may be read before or after the update. Here steps are counted.
        return tf.train.SessionRunArgs([self._loss, self._ids, self._input_times, self._scalars])

    def after_run(self, run_context, run_values):
        self.step += 1
        self._heard()
        loss, pictures, input_times, self._values = run_values.results
        loss = float(loss)
        self._pictures = self._pictures[-1:] + [pictures]
        self._time_step(input_wait.secs(input_times))
        if not math.isfinite(loss):
            self._console.end_progress()
            self._name_the_pictures()
            raise diverged.refused(f"the loss at step {self.step} is {loss}", self._run_dir, self._console.say)
        self.last_loss = loss
        self._health.beat("training")
        self._name_idle_gpus()
        self._console.progress(self.step, self._total_steps, self._text(loss), "step")
        self._write_metrics(loss)
        if self._stop.requested or self.step >= self._total_steps:
            run_context.request_stop()

    def end(self, session):
        self._console.end_progress()
        if self.last_loss is not None:
            self._write_metrics(self.last_loss, force=True)

    def images_per_sec(self):
        """Images a second over all devices in the last half minute; None before there are some steps to go by."""
        if len(self._recent) < STEPS_FOR_A_RATE:
            return None
        (began, first, _), (ended, last, _) = self._recent[0], self._recent[-1]
        return self._batch_size * (last - first) / max(ended - began, 1e-6)

    def input_wait_secs(self):
        """Mean seconds a step waited for its input, of the steps of images_per_sec; None where there are none."""
        waited = [waited for _, _, waited in self._recent][1:]
        if len(self._recent) < STEPS_FOR_A_RATE or None in waited:
            return None
        return sum(waited) / len(waited)

    def gpu_uses(self):
        """The gpu_use.Use of each GPU; [] where there are none, or nothing is known of them."""
        return self._gpu_watch.now()

    def _time_step(self, waited):
        now = self._clock()
        if self.first_step_secs is None:
            self.first_step_secs = now - self._began
            self._console.say(f"First step after {duration(self.first_step_secs)}.")
            return
        self._gpu_watch.step(self._step_began, now)
        self._recent.append((now, self.step, waited))
        while now - self._recent[0][0] > WINDOW_SECS and len(self._recent) > STEPS_FOR_A_RATE:
            self._recent.popleft()

    def _text(self, loss):
        rate = self.images_per_sec()
        if rate is None:
            return f"loss {loss:.3f}"
        left = (self._total_steps - self.step) * self._batch_size / rate
        waits = self._input_wait_percent()
        return "loss %.3f  %.1f images/s%s%s  %s left" % (
            loss,
            rate,
            "" if waits is None else f"  input wait {waits:.0f} %",
            gpu_use.text(self.gpu_uses()),
            duration(left),
        )

    def _input_wait_percent(self):
        rate, waited = self.images_per_sec(), self.input_wait_secs()
        return None if None in (rate, waited) else min(100 * waited * rate / self._batch_size, 100)

    def _name_idle_gpus(self):
        for entry, percent in self._gpu_watch.newly_idle():
            waits = self._input_wait_percent()
            self._console.say(
                "GPU %s was busy for %.0f %% of a minute of steps%s. %s"
                % (
                    entry,
                    percent,
                    "" if waits is None else f" (input wait {waits:.0f} %)",
                    "Its input is too slow: more CPU cores, a faster disk or smaller pictures help."
                    if waits is not None and waits >= MUCH_WAITING_PERCENT
                    else "Its share of the work may be too small: a larger BATCH_SIZE gives it more, a smaller NUM_GPUS leaves "
                    "it out.",
                )
            )

    def _name_the_pictures(self):
        """Says what the step was made of, and the one before: its update may be what broke the weights."""
        for step, pictures in zip(range(self.step, 0, -1), reversed(self._pictures)):
            ids = batch_ids.names(pictures, self._records)
            if ids:
                more = len(ids) - PICTURES_SHOWN
                self._console.say(
                    "Pictures of step %d: %s%s."
                    % (step, ", ".join(ids[:PICTURES_SHOWN]), f" and {more} more, in train.log" if more > 0 else "")
                )
                if more > 0:
                    self._console.log(f"All pictures of step {step}: {', '.join(ids)}")

    def _write_metrics(self, loss, force=False):
        now = self._clock()
        if not force and now - self._written_at < METRICS_EVERY_SECS:
            return
        self._written_at = now
        rate, waited = self.images_per_sec(), self.input_wait_secs()
        record = {
            "step": self.step,
            "loss": round(loss, 6),
            "time": round(now, 3),
            "images_per_sec": rate and round(rate, 2),
            "input_wait_secs": None if waited is None else round(waited, 6),
        }
        for tag, value in sorted(self._values.items()):
            # Not rounded to a number of places: learning rates are small.
            if tag.startswith(scalars.LEARNING_RATE):
                record["learning_rate"] = float(f"{value:.6g}")
            else:
                record.setdefault("losses", {})[tag[len(scalars.LOSSES) :]] = float(f"{value:.6g}")
        uses = self.gpu_uses()
        if uses:
            record["gpus"] = [
                {"percent": use.percent and round(use.percent, 1), "memory_mib": use.memory_mib} for use in uses
            ]
        with open(os.path.join(self._run_dir, METRICS), "a") as metrics:
            metrics.write(json.dumps(record) + "\n")


def _end_the_last_line(path):
    """A process killed while writing leaves half a line, to which the next record must not be appended."""
    try:
        with open(path, "r+b") as metrics:
            content = metrics.read()
            metrics.truncate(content.rfind(b"\n") + 1)
    except FileNotFoundError:
        pass
