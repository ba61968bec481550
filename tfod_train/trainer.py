"""TRAINERS: which trainers there are, and what is known of each without TensorFlow. One more is a module and a line."""

import importlib
from typing import Any, Callable, Dict, NamedTuple, Tuple


class Trainer(NamedTuple):
    """A trainer.

    module: its `train(parts)` takes tfod_train.trainers.session.Parts and returns when the steps are over.
    own_settings: variables that have a meaning with it alone.
    quantises_replicas: it trains a quantised model (graph_rewriter) on more than one device.
    queues_images: its input is a queue of single images in the training's process, not batches of tf.data.
    """

    module: str
    own_settings: Tuple[str, ...]
    quantises_replicas: bool
    queues_images: bool

    def load(self) -> Callable[[Any], None]:
        """The function that trains; imports TensorFlow."""
        return importlib.import_module(self.module).train


TRAINERS: Dict[str, Trainer] = {
    "mirrored": Trainer(
        "tfod_train.trainers.mirrored",
        own_settings=("ALL_REDUCE", "ALL_REDUCE_PACKS"),
        quantises_replicas=False,
        queues_images=False,
    ),
    "clone": Trainer(
        "tfod_train.trainers.clone", own_settings=("PS_TASKS",), quantises_replicas=True, queues_images=True
    ),
}
