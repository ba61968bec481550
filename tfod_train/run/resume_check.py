"""What a config trains beside the model's own variables: a run's checkpoints hold it only if trained before.

TensorFlow restores all of a graph's variables or none: one that the checkpoint lacks ends the training while it
starts.
"""

from typing import Any, Collection, List

AVERAGE = "/ExponentialMovingAverage"
# A value that each optimizer keeps for each variable it trains, by the name it is saved under.
SLOTS = {"rms_prop_optimizer": "/RMSProp_1", "momentum_optimizer": "/Momentum", "adam_optimizer": "/Adam_1"}


def fields(before: Any, now: Any, names: Collection[str]) -> List[str]:
    """The fields of a config that ask for variables which a run's checkpoint does not have.

    Args:
        before: TrainEvalPipelineConfig of the run.
        now: that it is to be resumed.
        names: of all variables in the checkpoint.

    Returns:
        a text for each, "FIELD (OLD, now NEW)".
    """
    old, new = before.train_config, now.train_config
    found = []

    def lacking(suffix: str) -> bool:
        return not any(name.endswith(suffix) for name in names)

    kinds = [train.optimizer.WhichOneof("optimizer") for train in (old, new)]
    if kinds[0] != kinds[1] and lacking(SLOTS.get(kinds[1], "/")):
        found.append(f"train_config.optimizer ({kinds[0]}, now {kinds[1]})")
    if new.optimizer.use_moving_average and not old.optimizer.use_moving_average and lacking(AVERAGE):
        found.append("train_config.optimizer.use_moving_average (False, now True)")
    # What was not trained has neither an average nor what the optimizer keeps.
    if set(old.freeze_variables) - set(new.freeze_variables):
        found.append(_changed("freeze_variables", old, new))
    chosen = set(old.update_trainable_variables)
    if chosen and (not new.update_trainable_variables or set(new.update_trainable_variables) - chosen):
        found.append(_changed("update_trainable_variables", old, new))
    if now.HasField("graph_rewriter") and not before.HasField("graph_rewriter"):
        found.append("graph_rewriter (none, now quantization)")
    return found


def _changed(field, old, new):
    before, now = [", ".join(getattr(train, field)) or "none" for train in (old, new)]
    return f"train_config.{field} ({before}, now {now})"
