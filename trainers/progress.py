"""One step hook for both trainers: progress, metrics.jsonl, health, divergence, and stopping by signal."""
import collections
import json
import math
import os
import re
import time

import tensorflow.compat.v1 as tf

from trainers.console import duration
from trainers.errors import DIVERGED, Refused
from trainers.run_dir import check_free_space, newest_checkpoint

METRICS = "metrics.jsonl"
WINDOW_SECS = 30
STEPS_FOR_A_RATE = 5
METRICS_EVERY_SECS = 5


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
        loss: scalar tensor; None takes the loss that the Estimator put last into the LOSSES collection.
        clock: seconds; for tests.
    """

    def __init__(self, console, health, stop, run_dir, total_steps, batch_size, began, loss=None,
                 clock=time.time):
        self._console = console
        self._health = health
        self._stop = stop
        self._run_dir = run_dir
        self._total_steps = total_steps
        self._batch_size = batch_size
        self._began = began
        self._loss = loss
        self._clock = clock
        self._recent = collections.deque()      # (time, step) of the last WINDOW_SECS, without the first step
        self._written_at = 0
        self.step = None
        self.first_step_secs = None
        self.last_loss = None

    def begin(self):
        self._global_step = tf.train.get_or_create_global_step()
        if self._loss is None:
            self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]

    def after_create_session(self, session, coord):
        self.step = int(session.run(self._global_step))
        self._stop.in_steps = True

    def before_run(self, run_context):
        # Not the global step: within a step's run it may be read before or after the update. Here steps are counted.
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self.step += 1
        loss = float(run_values.results)
        self._time_step()
        if not math.isfinite(loss):
            raise diverged("the loss at step %d is %s" % (self.step, loss), self._run_dir)
        self.last_loss = loss
        self._health.beat("training")
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
        (began, first), (ended, last) = self._recent[0], self._recent[-1]
        return self._batch_size * (last - first) / max(ended - began, 1e-6)

    def _time_step(self):
        now = self._clock()
        if self.first_step_secs is None:
            self.first_step_secs = now - self._began
            self._console.say("First step after %s." % duration(self.first_step_secs))
            return
        self._recent.append((now, self.step))
        while now - self._recent[0][0] > WINDOW_SECS and len(self._recent) > STEPS_FOR_A_RATE:
            self._recent.popleft()

    def _text(self, loss):
        rate = self.images_per_sec()
        if rate is None:
            return "loss %.3f" % loss
        left = (self._total_steps - self.step) * self._batch_size / rate
        return "loss %.3f  %.1f images/s  %s left" % (loss, rate, duration(left))

    def _write_metrics(self, loss, force=False):
        now = self._clock()
        if not force and now - self._written_at < METRICS_EVERY_SECS:
            return
        self._written_at = now
        rate = self.images_per_sec()
        record = {"step": self.step, "loss": round(loss, 6), "time": round(now, 3),
                  "images_per_sec": rate and round(rate, 2)}
        with open(os.path.join(self._run_dir, METRICS), "a") as metrics:
            metrics.write(json.dumps(record) + "\n")


def diverged(how, run_dir):
    """The Refused to raise when the loss is not finite; `how` is half a sentence."""
    newest = newest_checkpoint(run_dir)
    return Refused("Training diverged: %s." % how, "Lower the learning rate or check the data; the newest checkpoint "
                   "is %s." % (newest[0] if newest else "not there"), DIVERGED)


class CheckpointHook(tf.train.CheckpointSaverHook):
    """Saves as the API does, less graph.pbtxt: writing that as text takes 9 s at the start of every run.

    The meta graph beside each checkpoint holds the graph.
    """

    def __init__(self, run_dir, keep_checkpoints, **arguments):
        super(CheckpointHook, self).__init__(run_dir, **arguments)
        self._keep_checkpoints = keep_checkpoints

    def begin(self):
        super(CheckpointHook, self).begin()
        # While one more than those to keep is written, the oldest is still there.
        check_free_space(self._checkpoint_dir, checkpoint_bytes() * (self._keep_checkpoints + 1))

    def after_create_session(self, session, coord):
        step = session.run(self._global_step_tensor)
        self._timer.update_last_triggered_step(step)


def checkpoint_bytes():
    """Size of the values that a checkpoint of the default graph holds: each variable once, however many replicas."""
    sizes = {re.sub(r"/replica_\d+", "", variable.op.name): variable.shape.num_elements() * variable.dtype.size
             for variable in tf.global_variables()}
    return sum(sizes.values())


def checkpoint_hook(run_dir, settings, **arguments):
    """A CheckpointHook at the settings' interval; 600 s where none is set."""
    steps, secs = settings.checkpoint_every_steps, settings.checkpoint_every_secs
    if not steps and not secs:
        secs = 600
    return CheckpointHook(run_dir, settings.keep_checkpoints, save_steps=steps, save_secs=secs, **arguments)
