"""The learning rate of a pipeline config: its schedule, and what the settings make of it."""

import math
from typing import Any, List, Optional

from common.errors import SETTINGS_REFUSED, Refused

# What a schedule begins with or rises to, by the field that its kind has.
_BASE = ("learning_rate_base", "initial_learning_rate", "learning_rate")


def schedule(config: Any) -> Any:
    """The message of the learning-rate schedule in use, or None where the optimizer sets none."""
    optimizer = config.train_config.optimizer
    kind = optimizer.WhichOneof("optimizer")
    if kind is None:
        return None
    rate = getattr(optimizer, kind).learning_rate
    name = rate.WhichOneof("learning_rate")
    return getattr(rate, name) if name else None


def initial(config: Any) -> Optional[float]:
    """The schedule's base rate; None where there is no schedule."""
    found = schedule(config)
    field = _base_field(found)
    return getattr(found, field) if field else None


def scale(config: Any, factor: float) -> None:
    """Multiplies every rate of the schedule."""
    found = schedule(config)
    if found is None:
        return
    for field in found.DESCRIPTOR.fields:
        if field.name == "schedule":
            for step in found.schedule:
                step.learning_rate *= factor
        elif "learning_rate" in field.name:
            setattr(found, field.name, getattr(found, field.name) * factor)


def use(config: Any, rate: float, changes: List[str]) -> None:
    """LEARNING_RATE: the schedule's base rate; the others keep their proportion to it.

    Args:
        config: TrainEvalPipelineConfig; is changed.
        rate: above 0.
        changes: a line is added where it is another.

    Raises:
        Refused: the config has no schedule, or its base rate is 0.
    """
    base = initial(config)
    if not base:
        raise Refused(
            f"LEARNING_RATE={rate:g}, but the config's optimizer has no learning rate to set.",
            "Write train_config.optimizer with a learning rate in the config, or leave LEARNING_RATE out.",
            SETTINGS_REFUSED,
        )
    if math.isclose(rate, base, rel_tol=1e-6):
        return
    scale(config, rate / base)
    found = schedule(config)
    setattr(found, _base_field(found), rate)
    changes.append(f"learning rate: {base:.4g} -> {rate:.4g}, and all of its schedule with it (LEARNING_RATE)")


def _base_field(message):
    return next((field for field in _BASE if hasattr(message, field)), None)
