"""How much room a checkpoint will take, said before the graph is built."""

import os
from typing import Any, Optional, Tuple

from tfod_train.checkpoints import find, integrity
from tfod_train.config import pipeline
from tfod_train.run.run_dir import GRAPH_BYTES

# Values in a model for 37 classes, counted in the API's graphs (tf.global_variables without the optimizer's).
VALUES = {
    "ssd_mobilenet_v1": 10972970,
    "ssd_mobilenet_v2": 10720810,
    "faster_rcnn_resnet50": 43685570,
    "faster_rcnn_resnet101": 62729922,
}
BYTES_A_VALUE = 4
SLOTS = {"momentum_optimizer": 1, "rms_prop_optimizer": 2, "adam_optimizer": 2}


def estimate(config: Any, folder: str) -> Tuple[Optional[int], str, bool]:
    """Bytes of one checkpoint and how that is known.

    Args:
        config: the effective TrainEvalPipelineConfig.
        folder: RUN_DIR.

    Returns:
        (bytes, part of a sentence, exact): exact where a checkpoint of this very run says it. (None, why, False) where
        nobody knows before the graph is built.
    """
    newest = find.newest_checkpoint(folder)
    if newest:
        paths = integrity.files_of(newest[0])
        return sum(os.path.getsize(path) for path in paths), f"as {os.path.basename(newest[0])}", True
    extractor = pipeline.model_of(config).feature_extractor
    if extractor.type not in VALUES:
        return None, f"the size of a {extractor.type} is known when its graph is built, and looked at then", False
    depth = getattr(extractor, "depth_multiplier", 1.0) or 1.0
    optimizer = config.train_config.optimizer
    copies = 1 + SLOTS.get(optimizer.WhichOneof("optimizer"), 2) + int(optimizer.use_moving_average)
    size = int(VALUES[extractor.type] * depth**2) * BYTES_A_VALUE * copies + GRAPH_BYTES
    return size, f"estimated from a {extractor.type} with its optimizer's and averages' values", False
