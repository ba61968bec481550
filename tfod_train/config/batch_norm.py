"""Which batch norm of a config trains, and whether its statistics can be any good: pure functions of the config.

docs/batch_norm.md explains both sentences and what each trainer does with the statistics of several devices.
"""

import math
from typing import Any, List, NamedTuple

from common.text import counted
from tfod_train.config import pipeline

ENOUGH_IMAGES = 4
LEFT_OVER = 0.05
# What slim's networks are built with, where the config's own values do not reach them; by a part of the extractor's
# type, the first that fits.
BASE_DECAYS = (("inception", 0.9997), ("mobilenet", 0.9997), ("nas", 0.9997), ("resnet", 0.997))


class Trained(NamedTuple):
    """Batch norm that trains: where in the config (or the base network), and the decay of its moving statistics."""

    where: str
    decay: float


def trained(config: Any) -> List[Trained]:
    """The batch norm that trains, base network first.

    SSD's freeze_batchnorm freezes the base network alone: layers whose hyperparams say batch_norm { train: true }, the
    default, train all the same (shown by tests/tfod_train/config/test_batch_norm.py).

    Args:
        config: TrainEvalPipelineConfig.

    Returns:
        a Trained of each.
    """
    base = _base_network(config)
    return ([base] if base else []) + _of_hyperparams(pipeline.model_of(config), "")


def cautions(config: Any, devices: int) -> List[str]:
    """Sentences on batch norm that people must know before a run, with the numbers; mostly none.

    Args:
        config: effective TrainEvalPipelineConfig; batch_size is global.
        devices: how many the run has.
    """
    found = trained(config)
    if not found:
        return []
    return _too_few_images(config.train_config.batch_size // devices, devices) + _too_few_steps(config, found)


def _base_network(config):
    model = pipeline.model_of(config)
    kind = config.model.WhichOneof("model")
    decay = next((decay for part, decay in BASE_DECAYS if part in model.feature_extractor.type), None)
    if kind == "ssd":
        trains = not model.freeze_batchnorm and not model.feature_extractor.override_base_feature_extractor_hyperparams
    else:
        trains = kind == "faster_rcnn" and model.feature_extractor.batch_norm_trainable
    return Trained("the base network", decay) if trains and decay else None


def _of_hyperparams(message, prefix):
    """Trained of every hyperparams below a message that has batch_norm { train: true }."""
    found = []
    for field, value in message.ListFields():
        if field.message_type is None or field.label == field.LABEL_REPEATED:
            continue
        if field.message_type.name == "Hyperparams":
            if value.HasField("batch_norm") and value.batch_norm.train:
                found.append(Trained(prefix + field.name, round(value.batch_norm.decay, 6)))
        else:
            found += _of_hyperparams(value, prefix + field.name + ".")
    return found


def _too_few_images(share, devices):
    if share >= ENOUGH_IMAGES:
        return []
    return [
        f"Batch norm trains on {counted(share, 'image')} a device, too few for steady statistics: "
        f"set BATCH_SIZE={ENOUGH_IMAGES * devices} or more, or freeze it (docs/batch_norm.md)."
    ]


def _too_few_steps(config, found):
    steps = config.train_config.num_steps
    slowest = max(found, key=lambda one: one.decay)
    left = slowest.decay**steps
    if left <= LEFT_OVER:
        return []
    began = "fine_tune_checkpoint" if config.train_config.fine_tune_checkpoint else "initial"
    sentence = (
        f"After {counted(steps, 'step')} the batch norm statistics of {slowest.where} (decay "
        f"{slowest.decay:g}) are still {round(100 * left)} % their {began} values"
    )
    fitting = math.floor(1000 * LEFT_OVER ** (1.0 / steps)) / 1000
    override = (
        "override_base_feature_extractor_hyperparams: true and "
        if slowest.where == "the base network" and config.model.WhichOneof("model") == "ssd"
        else ""
    )
    enough = math.ceil(math.log(LEFT_OVER) / math.log(slowest.decay)) if slowest.decay < 1 else None
    ways = (
        [f"set {override}a batch_norm decay of {fitting:g}"]
        if fitting and (override or slowest.where != "the base network")
        else []
    )
    ways += [f"train {enough} steps"] if enough else []
    return [f"{sentence}, and evaluation uses them: {', or '.join(ways)} (docs/batch_norm.md)."]
