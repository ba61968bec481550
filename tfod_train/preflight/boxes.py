"""Does the model that the config makes suit the boxes of the dataset? Looked at on a sample of its images."""

from typing import Any, List, Tuple

from common.text import printable
from data_prep.check import anchor_shares, model_input
from tfod_train.config.dataset import Dataset
from tfod_train.fitted_config import boxes

REMEDY = (
    "make config DATASET={folder} writes one that fits; or give this one scales and aspect ratios like the boxes', or "
    "a larger input size. python -m data_prep check {folder} --config FILE reads every image."
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
    """(AnchorShares by class name, images read) of a sample."""
    shares, images = anchor_shares.AnchorShares(facts), 0
    if facts.resize is None:
        return shares, images
    for image in boxes.sample(dataset):
        images += 1
        shares.see(image.boxes, image.classes, facts.resize(*image.size))
    return shares, images
