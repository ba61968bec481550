"""Does the model that the config makes suit the boxes of the dataset? Looked at on a sample of its images."""

import glob
import itertools
from typing import Any, List, Tuple

from common.text import printable
from data_prep.check import anchor_shares, model_input
from data_prep.tfrecord import example_rules, label_map, tolerant_reader
from tfod_train.config.dataset import Dataset

# Reading them takes a second at most; a class that no anchor fits shows in fewer.
IMAGES_LOOKED_AT = 500
REMEDY = (
    "Give the config scales and aspect ratios like the boxes', or a larger input size; "
    "python -m data_prep check {folder} --config FILE reads every image."
)


def warnings(config: Any, dataset: Dataset) -> List[Tuple[str, str]]:
    """(what does not suit, what to do) of each, for the effective TrainEvalPipelineConfig of a run."""
    facts = model_input.facts(config)
    found = []
    if facts.most_detections is not None and dataset.most_boxes > facts.most_detections:
        found.append(
            (
                f"An image has {dataset.most_boxes} boxes, and max_total_detections is {facts.most_detections}: the "
                "model can never find them all.",
                f"Set max_total_detections and max_detections_per_class in the config to more than "
                f"{dataset.most_boxes}.",
            )
        )
    shares, images = _look_at(facts, dataset)
    unfit = [f"class {printable(str(kind))}: {detail}" for kind, detail in shares.low()]
    if unfit:
        more = f" and {len(unfit) - 5} more classes" if len(unfit) > 5 else ""
        found.append(
            (
                f"The model's anchors do not fit every class, in {images} images looked at: "
                f"{'; '.join(unfit[:5])}{more}.",
                REMEDY.format(folder=dataset.folder),
            )
        )
    return found


def _look_at(facts, dataset):
    """(AnchorShares by class name, images read) of a sample that takes from each shard alike."""
    shares, images = anchor_shares.AnchorShares(facts), 0
    shards = sorted(glob.glob(dataset.pattern("train")))
    if facts.resize is None or not shards:
        return shares, images
    classes = label_map.read(dataset.label_map)
    each = -(-IMAGES_LOOKED_AT // len(shards))
    for shard in shards[:IMAGES_LOOKED_AT]:
        for read in itertools.islice(tolerant_reader.scan(shard), each):
            images += _see(read, shares, facts, classes)
    return shares, images


def _see(read, shares, facts, classes):
    """Whether the record could be looked at: what is wrong with one is the check's to tell."""
    try:
        features = example_rules.parse(read.payload) if read.payload is not None else {}
    except ValueError:
        return False
    size = example_rules.stated_size(features)
    if size is None or min(size) < 1:
        return False
    names = [classes.names.get(number) for number in example_rules.class_ids(features, classes)]
    shares.see(example_rules.boxes(features), names, facts.resize(*size))
    return True
