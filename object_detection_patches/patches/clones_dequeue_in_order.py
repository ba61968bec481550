"""Patch: the clones take their batches from the queue one after the other, the first clone first."""

NAME = "clones_dequeue_in_order"
CURES = "clones that swap their batches from run to run"
WHY = (
    "All clones take a batch from one queue in the same step, and nothing says in which order, so with the "
    "same input in the same order the first clone sees now one batch, now the other. What is kept of one clone "
    "alone, batch norm's statistics, then differs between runs. Each clone now waits until the one before it has "
    "its batch; taking it from a filled queue takes microseconds."
)
REPORTS = ()
FILES = ("object_detection/core/batcher.py",)
ADDS = ("object_detection/utils/queue_order.py",)


def transform(path, file):
    """Edits object_detection/core/batcher.py."""
    file.insert_first("from object_detection.utils import queue_order", "BatchQueue.dequeue")
    file.replace_expression("self._queue.dequeue()", "queue_order.dequeue(self._queue)", inside="BatchQueue.dequeue")
