"""Saving: at the interval of the settings, only where there is space, and without a second copy of the graph."""

import re
from typing import Any

import tensorflow.compat.v1 as tf

from common.errors import PREFLIGHT_FAILED, Refused
from tfod_train.checkpoints import retention
from tfod_train.hooks import early_stopping
from tfod_train.run.context import Run
from tfod_train.run.run_dir import GRAPH_BYTES, RunDir


class CheckpointHook(tf.train.CheckpointSaverHook):
    """Saves as the API does, less graph.pbtxt: writing that as text takes 9 s at the start of every run.

    The meta graph beside each checkpoint holds the graph.
    """

    def __init__(self, run_dir: RunDir, keep_checkpoints: int, **arguments: Any):
        super(CheckpointHook, self).__init__(run_dir.path, **arguments)
        self._run_dir = run_dir
        self._keep_checkpoints = keep_checkpoints

    def begin(self) -> None:
        super(CheckpointHook, self).begin()
        # The same fetch as StepHook's: another one would have the whole graph optimised once more.
        self._global_step = tf.train.get_or_create_global_step()
        self._bytes = checkpoint_bytes()
        # While one more than those to keep is written, the oldest is still there.
        there = len(self._run_dir.checkpoints())
        self._run_dir.check_free_space(self._bytes * max(self._keep_checkpoints + 1 - there, 1))

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = session.run(self._global_step)
        self._timer.update_last_triggered_step(step)

    def _save(self, session, step):
        # A save that finds no space left behind damages nothing (RunDir.remove_half_written), but takes what the
        # other processes of the machine need.
        free, needed = self._run_dir.free_bytes(), self._bytes + GRAPH_BYTES
        if free < needed:
            newest = self._run_dir.newest_checkpoint()
            raise Refused(
                f"The disk is full: {self._run_dir} has {free // 2**20} MB free, and the checkpoint of "
                f"step {step} needs {needed // 2**20} MB.",
                "Free some space and run the same command again: it resumes from "
                f"{newest[0] if newest else 'the start'}.",
                PREFLIGHT_FAILED,
            )
        stop = super(CheckpointHook, self)._save(session, step)
        retention.note_kept_for_good(self._checkpoint_dir)
        return stop


def checkpoint_bytes() -> int:
    """Size of the values that a checkpoint of the default graph holds: each variable once, however many replicas."""
    sizes = {
        re.sub(r"/replica_\d+", "", variable.op.name): variable.shape.num_elements() * variable.dtype.size
        for variable in tf.global_variables()
    }
    return sum(sizes.values())


def checkpoint_hook(run: Run, **arguments: Any) -> CheckpointHook:
    """A CheckpointHook at the settings' interval; 600 s where none is set."""
    settings = run.settings
    steps, secs = settings.checkpoint_every_steps, settings.checkpoint_every_secs
    if not steps and not secs:
        secs = 600
    return CheckpointHook(
        run.run_dir,
        settings.keep_checkpoints,
        save_steps=steps,
        save_secs=secs,
        listeners=[early_stopping.listener(run.run_dir)],
        **arguments,
    )
