"""SEED: what makes two runs on one machine end in the same checkpoint, bit for bit. docs/repeatable.md explains it.

Beside this, the patched API maps the input of a seeded graph serially (seeded_input_map) and lets clones take their
batches in order (clones_dequeue_in_order).
"""

from typing import Any, Callable

# Fields of the reader and of train_config at which input arrives in one order.
ONE_READER = (("num_readers", 1), ("num_parallel_map_calls", 1))
ONE_QUEUE_THREAD = (("num_batch_queue_threads", 1),)


def order_input(config: Any, set_field: Callable[[Any, str, int], None]) -> None:
    """Lets the images come in an order that depends on the seed alone; called where SEED is set.

    Args:
        config: TrainEvalPipelineConfig, changed.
        set_field: function(message, field name, value).
    """
    for message, fields in ((config.train_input_reader, ONE_READER), (config.train_config, ONE_QUEUE_THREAD)):
        for field, value in fields:
            set_field(message, field, value)
