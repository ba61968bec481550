"""TensorBoard's scalars, by one name and one meaning for both trainers.

What only one trainer writes is left out where another tag says the same or it is one device's share of it.
Losses are means over devices (patch same_training_summaries); TargetAssignment/... is the first device's batch
in both. The clone trainer alone has input queues, whose fill it shows (batch/..., queue/...), and histograms of
the weights (ModelVars/...).
"""

import re
from typing import Any, Dict, Optional

import tensorflow.compat.v1 as tf

from tfod_train.observers.metrics_file import LEARNING_RATE, LOSSES
from tfod_train.observers.speed import Speed
from tfod_train.run.run_dir import RunDir

EVERY_STEPS = 100
IMAGES_PER_SEC = "images_per_sec"
INPUT_WAIT = "input_wait_secs"
TOTAL_LOSS = LOSSES + "TotalLoss"
# The Estimator's second copy of Losses/TotalLoss; the gradient of the first replica; model_deploy's of a clone.
LEFT_OUT = re.compile(r"loss(_\d+)?$|global_norm/|clone_0/Losses/|Losses/clone_loss$|Losses/regularization_loss_\d+$")


def name(tag: str) -> Optional[str]:
    """The tag under which a summary is written; None for one that is left out."""
    return None if LEFT_OUT.match(tag) else tag.replace("clone_0/", "")


def of_step() -> Dict[str, Any]:
    """Scalar tensors of the default graph by tag: the parts of the loss (means over devices), the learning rate."""
    written = [summary.op for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    tags = {
        tf.get_static_value(op.inputs[0]).item().decode("utf-8"): op.inputs[1]
        for op in written
        if op.type == "ScalarSummary"
    }
    return {
        tag: value
        for tag, value in tags.items()
        if tag.startswith((LOSSES, LEARNING_RATE)) and tag != TOTAL_LOSS and name(tag)
    }


def of_both(serialized: bytes) -> Any:
    """tf.Summary of a serialized one, with the tags of `name`."""
    found = tf.Summary.FromString(serialized)
    kept = tf.Summary()
    for value in found.value:
        tag = name(value.tag)
        if tag is not None:
            kept.value.add().CopyFrom(value)
            kept.value[-1].tag = tag
    return kept


class ScalarsHook(tf.train.SessionRunHook):
    """Writes the graph's summaries at the first step and then each EVERY_STEPS, and the speed also at the end.

    Args:
        run_dir: where the event file is.
        speed: the observer that counts the steps; its hook is called before this one.
        summary_op: string tensor; None takes the session's merged summaries.
    """

    def __init__(self, run_dir: RunDir, speed: Speed, summary_op: Any = None):
        self._run_dir = run_dir
        self._speed = speed
        self._summary_op = summary_op
        self._written_at: Optional[int] = None
        self._due = True

    def begin(self) -> None:
        # The cached one: the checkpoint hook writes to the same file.
        self._writer = tf.summary.FileWriterCache.get(self._run_dir.path)

    def before_run(self, run_context: Any) -> Any:
        self._due = self._written_at is None or (self._speed.step or 0) % EVERY_STEPS == 0
        if not self._due:
            return None
        if self._summary_op is None:
            self._summary_op = tf.get_collection(tf.GraphKeys.SUMMARY_OP)[0]
        return tf.train.SessionRunArgs(self._summary_op)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._due:
            self._written_at = self._speed.step
            self._writer.add_summary(of_both(run_values.results), self._written_at)
            self._write_speed()

    def end(self, session: Any) -> None:
        if self._speed.step != self._written_at:
            self._write_speed()
        self._writer.flush()

    def _write_speed(self):
        scalars = [(IMAGES_PER_SEC, self._speed.images_per_sec()), (INPUT_WAIT, self._speed.input_wait_secs())]
        for index, use in enumerate(self._speed.gpu_uses()):
            # By TensorFlow's number of the device.
            scalars += [(f"gpu_{index}/percent", use.percent), (f"gpu_{index}/memory_mib", use.memory_mib)]
        for tag, value in scalars:
            if value is not None:
                self._writer.add_summary(
                    tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)]), self._speed.step
                )
