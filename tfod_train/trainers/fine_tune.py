"""What a fine_tune_checkpoint gives the model, shown and checked before a run starts from it.

Stock, the API restores what it finds by name and logs the rest away, so a checkpoint of the wrong type trains from
scratch without a word.
"""

from typing import Any, Callable, Collection, Dict, List, NamedTuple

import tensorflow.compat.v1 as tf

from common.errors import Refused

TYPES = ("detection", "classification")
REFUSED_BELOW = 0.1
NAMES_SHOWN = 3
AVERAGE = "/ExponentialMovingAverage"
NOT_OF_THE_MODEL = (tf.GraphKeys.GLOBAL_STEP, "beta1_power", "beta2_power")


class Match(NamedTuple):
    """How the variables that a fine_tune_checkpoint_type asks for are found in a checkpoint.

    found: variables by their name in the checkpoint. missing: a line for each that is not there, sorted.
    """

    found: Dict[str, Any]
    missing: List[str]

    @property
    def wanted(self) -> int:
        return len(self.found) + len(self.missing)

    @property
    def share(self) -> float:
        return float(len(self.found)) / self.wanted if self.wanted else 0.0


def watched(build_model: Callable[..., Any], train_config: Any, say: Callable[[str], None]) -> Callable[..., Any]:
    """A model builder whose models say what they restore, and refuse a checkpoint that does not fit.

    Args:
        build_model: function(...) -> DetectionModel.
        train_config: TrainConfig with the fine_tune_checkpoint; without one, build_model itself is returned.
        say: function(sentence).

    Returns:
        A function like build_model. The restore_map of its models is called while the training graph is built, once a
        replica; the first call speaks for all. It raises Refused where less than a tenth is found.
    """
    if not train_config.fine_tune_checkpoint:
        return build_model
    restored: List[Match] = []

    def build(*args: Any, **kwargs: Any) -> Any:
        model = build_model(*args, **kwargs)
        restore_map = model.restore_map

        def watched_restore_map(
            fine_tune_checkpoint_type: str, load_all_detection_checkpoint_vars: bool = False
        ) -> Dict[str, Any]:
            if restored:
                # In the other replicas names end in /replica_1 and match nothing; a strategy asks the first alone.
                return {}
            restored.append(
                _checked(
                    restore_map,
                    train_config.fine_tune_checkpoint,
                    fine_tune_checkpoint_type,
                    load_all_detection_checkpoint_vars,
                    say,
                )
            )
            return restored[0].found

        model.restore_map = watched_restore_map
        return model

    return build


def match(variables: Dict[str, Any], shapes: Dict[str, List[int]], other_names: Collection[str]) -> Match:
    """Match of the variables (by their name in the checkpoint) with a checkpoint's shapes (by name).

    Args:
        variables: by their name in the checkpoint.
        shapes: by their name, those of the checkpoint.
        other_names: names of all variables of the graph: what an optimizer keeps beside a variable is named below it,
            and is not looked for, so that both trainers restore the same.
    """
    found, missing = {}, []
    for name, variable in sorted(variables.items()):
        if variable.op.name in NOT_OF_THE_MODEL or variable.op.name.rpartition("/")[0] in other_names:
            continue
        shape = variable.shape.as_list()
        if name not in shapes:
            missing.append(name)
        elif shapes[name] != shape:
            missing.append(f"{name} (shape {shape}, in the checkpoint {shapes[name]})")
        else:
            found[name] = variable
    return Match(found, missing)


def hooks(train_config: Any) -> List[Any]:
    """Session hooks that a training needs when it starts from a fine_tune_checkpoint."""
    averages = train_config.fine_tune_checkpoint and train_config.optimizer.use_moving_average
    return [_AveragesFromWeights()] if averages else []


class _AveragesFromWeights(tf.train.SessionRunHook):
    """Sets each moving average to its weight before the first step.

    Both trainers initialise the averages from the random weights that the restored ones replace; with the usual decay
    an evaluation would see those for thousands of steps.
    """

    def begin(self) -> None:
        variables = {variable.name.split(":")[0]: variable for variable in tf.global_variables()}
        updates = [
            average.assign(variables[name[: -len(AVERAGE)]])
            for name, average in sorted(variables.items())
            if name.endswith(AVERAGE)
        ]
        self._step = tf.train.get_or_create_global_step()
        # Under a strategy an update is one operation for each replica.
        local = tf.distribute.get_strategy().experimental_local_results
        self._update = tf.group(*[operation for update in updates for operation in local(update)])

    def after_create_session(self, session: Any, coord: Any) -> None:
        if session.run(self._step) == 0:
            session.run(self._update)


def _checked(restore_map, checkpoint, checkpoint_type, load_all, say):
    try:
        shapes = tf.train.NewCheckpointReader(checkpoint).get_variable_to_shape_map()
    except (tf.errors.OpError, ValueError) as error:
        raise Refused(
            f"fine_tune_checkpoint {checkpoint} cannot be read: {str(error).splitlines()[0]}.",
            "Set FINE_TUNE_CHECKPOINT to another, or to none.",
        ) from error
    names = {variable.op.name for variable in tf.global_variables()}

    def match_of(name: str) -> Match:
        variables = restore_map(fine_tune_checkpoint_type=name, load_all_detection_checkpoint_vars=load_all)
        return match(variables, shapes, names)

    result = match_of(checkpoint_type)
    if result.share < REFUSED_BELOW:
        raise Refused(
            f"Only {len(result.found)} of the {result.wanted} variables that fine_tune_checkpoint_type: "
            f"{checkpoint_type} asks for are in {checkpoint} (missing: {_first(result.missing)}).",
            _what_would_match({name: match_of(name) for name in TYPES if name != checkpoint_type}),
        )
    say(
        f"Fine-tuning: restored {len(result.found)} of {result.wanted} variables from {checkpoint} "
        f"(fine_tune_checkpoint_type: {checkpoint_type})."
    )
    if result.missing:
        say(f"  Not in the checkpoint: {_first(result.missing)}.")
    return result


def _what_would_match(matches):
    name, best = max(matches.items(), key=lambda pair: pair[1].share)
    if best.share < REFUSED_BELOW:
        return (
            "No fine_tune_checkpoint_type matches, so it is a checkpoint of another model: take that model's, or "
            "set FINE_TUNE_CHECKPOINT=none to train from scratch."
        )
    return f'Set fine_tune_checkpoint_type: "{name}" in train_config: it finds {len(best.found)} of {best.wanted}.'


def _first(names):
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
