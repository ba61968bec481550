"""How long a step waits for its images, for both trainers.

A step's work on a device begins when its batch is there: when the op that takes the batch (from the mirrored
trainer's iterator, from the clone trainer's queue) has ended. That op needs nothing else of the step, so it
starts with it. The time from the step's start to the end of the last such op is what the step waited. Both times
are taken within the step: what TensorFlow does before a step (placing and optimising a graph at its first run)
is not waiting for input.
"""

from typing import Any, List, Optional

import tensorflow.compat.v1 as tf

TAKES_A_BATCH = (
    "QueueDequeueV2",
    "IteratorGetNext",
    "IteratorGetNextAsOptional",
    "IteratorGetNextSync",
    "MultiDeviceIteratorGetNextFromShard",
)


def times(loss: Any) -> List[Any]:
    """Tensors of the times at which a step starts and each device's batch is there; adds them to the graph.

    Args:
        loss: tensor of the step; only what it needs is looked at. The op that fills a queue takes images too,
            but in another thread.

    Returns:
        Float64 scalars, seconds of one clock, the start first; empty where the input is taken by none of
        TAKES_A_BATCH.
    """
    takers = [op for op in _needed(loss.op) if op.type in TAKES_A_BATCH]
    found = []
    with tf.device("/device:CPU:0"):
        for needed in [[]] + [[op] for op in takers]:
            with tf.control_dependencies(needed):
                found.append(tf.timestamp())
    return found if takers else []


def secs(times: List[float]) -> Optional[float]:
    """Seconds waited, of the values of `times`; None where there are none."""
    return max(max(times[1:]) - times[0], 0.0) if times else None


def _needed(op):
    found, waiting = [], [op]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        found.append(op)
        for other in [tensor.op for tensor in op.inputs] + list(op.control_inputs):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return found
