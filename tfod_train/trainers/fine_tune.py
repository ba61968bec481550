"""What a fine_tune_checkpoint gives the model, shown and checked before a run starts from it.

Stock, the API restores what it finds by name and logs the rest away, so a checkpoint of the wrong type trains from
scratch without a word, and one of other classes gives each class the head of another.
"""

from typing import Any, Callable, Collection, Dict, List, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from common.errors import PREFLIGHT_FAILED, Refused
from tfod_train.config import pipeline, pretrained
from tfod_train.run import manifest
from tfod_train.run.context import Run
from tfod_train.trainers import class_heads

TYPES = ("detection", "classification")
REFUSED_BELOW = 0.1
NAMES_SHOWN = 3
CLASSES_SHOWN = 50
AVERAGE = "/ExponentialMovingAverage"
NOT_OF_THE_MODEL = (tf.GraphKeys.GLOBAL_STEP, "beta1_power", "beta2_power")


class Match(NamedTuple):
    """How the variables that a fine_tune_checkpoint_type asks for are found in a checkpoint.

    found: variables by their name in the checkpoint. heads: those of which the outputs of some classes are there,
    with each variable's name in the graph. missing: a line for each that is not there, sorted.
    """

    found: Dict[str, Any]
    heads: Dict[str, class_heads.Head]
    missing: List[str]

    @property
    def restored(self) -> int:
        return len(self.found) + len(self.heads)

    @property
    def wanted(self) -> int:
        return self.restored + len(self.missing)

    @property
    def share(self) -> float:
        return float(self.restored) / self.wanted if self.wanted else 0.0


class Outcome(NamedTuple):
    """What was restored: by which type, chosen why ("" where the config sets it), and what became of the classes."""

    checkpoint_type: str
    why: str
    match: Match
    classes: Optional[class_heads.ByName]


class FineTuning(object):
    """How the model of one training begins from its fine_tune_checkpoint."""

    def __init__(
        self, config: Any, say: Callable[[str], None], record: Callable[[Outcome], None] = lambda outcome: None
    ):
        """
        Args:
            config: TrainEvalPipelineConfig; without a fine_tune_checkpoint, nothing is done.
            say: function(sentence).
            record: function(Outcome) that writes it down.
        """
        self._config, self._say, self._record = config, say, record
        train = config.train_config
        # Read before the API builds its graph: it takes an unset type for `classification`.
        self._chooses = not train.fine_tune_checkpoint_type and not train.HasField("from_detection_checkpoint")
        self.outcome: Optional[Outcome] = None
        self.head_values: Dict[str, Any] = {}

    def watched(self, build_model: Callable[..., Any]) -> Callable[..., Any]:
        """A model builder whose models say what they restore, and refuse a checkpoint that does not fit.

        Args:
            build_model: function(...) -> DetectionModel.

        Returns:
            A function like build_model. The restore_map of its models is called while the training graph is built,
            once a replica; the first call speaks for all. It raises Refused where less than a tenth is found.
        """
        if not self._config.train_config.fine_tune_checkpoint:
            return build_model

        def build(*args: Any, **kwargs: Any) -> Any:
            model = build_model(*args, **kwargs)
            restore_map = model.restore_map

            def watched_restore_map(
                fine_tune_checkpoint_type: str, load_all_detection_checkpoint_vars: bool = False
            ) -> Dict[str, Any]:
                if self.outcome:
                    # In the other replicas names end in /replica_1 and match nothing; a strategy asks the first alone.
                    return {}
                return self._restored(
                    lambda kind: restore_map(
                        fine_tune_checkpoint_type=kind,
                        load_all_detection_checkpoint_vars=load_all_detection_checkpoint_vars,
                    ),
                    fine_tune_checkpoint_type,
                )

            model.restore_map = watched_restore_map
            return model

        return build

    def hooks(self) -> List[Any]:
        """Session hooks that the training needs."""
        train = self._config.train_config
        if not train.fine_tune_checkpoint:
            return []
        averages = [_AveragesFromWeights()] if train.optimizer.use_moving_average else []
        return [_HeadsByClass(self), *averages]

    def _restored(self, restore_map, asked):
        """What is restored as it is; notes the heads that are restored by class. Says, checks and records it."""
        checkpoint = self._config.train_config.fine_tune_checkpoint
        reader = _reader(checkpoint)
        shapes, known = reader.get_variable_to_shape_map(), pretrained.classes_of(checkpoint)
        heads = self._heads(known.ids) if known.ids else None
        names = {variable.op.name for variable in tf.global_variables()}
        kind, why, result = self._chosen(lambda kind: match(restore_map(kind), shapes, names, heads), asked)
        self.outcome = Outcome(kind, why, result, heads.names if heads else None)
        self.head_values = {name: reader.get_tensor(name) for name in result.heads}
        unknown = _unknown_classes(result, self._config.model, known, checkpoint)
        for line in sentences(self.outcome, checkpoint) + unknown:
            self._say(line)
        self._config.train_config.fine_tune_checkpoint_type = kind
        self._record(self.outcome)
        return result.found

    def _heads(self, old_ids):
        names = class_heads.by_name(old_ids, _new_ids(self._config.train_input_reader.label_map_path))
        return class_heads.Heads(self._config.model, pipeline.model_of(self._config).num_classes, names)

    def _chosen(self, match_of, asked):
        """(type, why it was chosen, its Match). Raises Refused where it finds less than a tenth."""
        checkpoint = self._config.train_config.fine_tune_checkpoint
        matches = {kind: match_of(kind) for kind in (TYPES if self._chooses else (asked,))}
        kind = max(matches, key=lambda one: matches[one].restored)  # the first of equals
        result = matches[kind]
        if result.share < REFUSED_BELOW:
            raise Refused(
                f"Only {result.restored} of the {result.wanted} variables that fine_tune_checkpoint_type: "
                f"{kind} asks for are in {checkpoint} (missing: {_first(result.missing)}).",
                _what_would_match({one: match_of(one) for one in TYPES if one != kind}),
            )
        others = [f"{one} would find {other.restored}" for one, other in matches.items() if one != kind]
        why = f"{result.restored} of {result.wanted} variables match; {others[0]}" if others else ""
        return kind, why, result


def of_run(run: Run, say: Callable[[str], None]) -> FineTuning:
    """The FineTuning of a run: what comes of it is in its run.json and pipeline.config."""

    def record(outcome: Outcome) -> None:
        kind, why, result, classes = outcome
        changes = [f"fine_tune_checkpoint_type: none -> {kind} ({why})"] if why else []
        facts = {
            "checkpoint": run.config.train_config.fine_tune_checkpoint,
            "type": kind,
            "restored": result.restored,
            "wanted": result.wanted,
            "missing": result.missing,
        }
        if classes and result.heads:
            facts["classes"] = {"kept": classes.kept, "new": classes.new, "dropped": classes.dropped}
        manifest.fine_tuned(run.run_dir, kind, changes, facts)

    return FineTuning(run.config, say, record)


def match(
    variables: Dict[str, Any],
    shapes: Dict[str, List[int]],
    other_names: Collection[str],
    heads: Optional[class_heads.Heads] = None,
) -> Match:
    """Match of the variables (by their name in the checkpoint) with a checkpoint's shapes (by name).

    Args:
        variables: by their name in the checkpoint.
        shapes: by their name, those of the checkpoint.
        other_names: names of all variables of the graph: what an optimizer keeps beside a variable is named below it,
            and is not looked for, so that both trainers restore the same.
        heads: the model's class heads; None where the checkpoint's classes are not known.
    """
    result = Match({}, {}, [])
    for name, variable in sorted(variables.items()):
        if variable.op.name in NOT_OF_THE_MODEL or variable.op.name.rpartition("/")[0] in other_names:
            continue
        shape = variable.shape.as_list()
        head = heads.head(variable.op.name, shape, shapes[name]) if heads and name in shapes else None
        if name not in shapes:
            result.missing.append(name)
        elif head:
            result.heads[name] = head
        elif shapes[name] != shape or (heads and heads.layout(variable.op.name)):
            result.missing.append(f"{name} (shape {shape}, in the checkpoint {shapes[name]})")
        else:
            result.found[name] = variable
    return result


def sentences(outcome: Outcome, checkpoint: str) -> List[str]:
    """What people read of it."""
    kind, why, result, classes = outcome
    chosen = f", chosen since {why}" if why else ""
    lines = [
        f"Fine-tuning: restored {result.restored} of {result.wanted} variables from {checkpoint} "
        f"(fine_tune_checkpoint_type: {kind}{chosen})."
    ]
    if result.missing:
        lines.append(f"  Not in the checkpoint: {_first(result.missing)}.")
    if classes and result.heads:
        kept = ("Kept from the run", classes.kept or ["no class"])
        groups = [kept, ("New", classes.new), ("Dropped", classes.dropped)]
        lines.append("  " + " ".join(f"{word}: {_first(names, CLASSES_SHOWN)}." for word, names in groups if names))
    return lines


class _HeadsByClass(tf.train.SessionRunHook):
    """Before the first step, gives the outputs of the classes that stay their values of the checkpoint.

    Those of new classes keep the model's initial values.
    """

    def __init__(self, fine_tuning: FineTuning):
        self._fine_tuning = fine_tuning

    def begin(self) -> None:
        variables = {variable.name.split(":")[0]: variable for variable in tf.global_variables()}
        outcome = self._fine_tuning.outcome
        self._heads = sorted(outcome.match.heads.items()) if outcome else []
        own = [variables[head.name] for _, head in self._heads]
        self._initial = [variable.read_value() for variable in own]
        self._values = [tf.placeholder(variable.dtype.base_dtype, variable.shape) for variable in own]
        self._update = _in_each_replica([variable.assign(value) for variable, value in zip(own, self._values)])
        self._step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if not self._heads or session.run(self._step) != 0:
            return
        old = self._fine_tuning.head_values
        values = [
            class_heads.filled(initial, old[name], head.outputs)
            for (name, head), initial in zip(self._heads, session.run(self._initial))
        ]
        session.run(self._update, dict(zip(self._values, values)))


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
        self._update = _in_each_replica(updates)

    def after_create_session(self, session: Any, coord: Any) -> None:
        if session.run(self._step) == 0:
            session.run(self._update)


def _in_each_replica(updates):
    """One operation of updates: under a strategy each is one for each replica."""
    local = tf.distribute.get_strategy().experimental_local_results
    return tf.group(*[operation for update in updates for operation in local(update)])


def _reader(checkpoint):
    try:
        return tf.train.NewCheckpointReader(checkpoint)
    except (tf.errors.OpError, ValueError) as error:
        raise Refused(
            f"fine_tune_checkpoint {checkpoint} cannot be read: {str(error).splitlines()[0]}.",
            "Set FINE_TUNE_CHECKPOINT to another, or to none.",
        ) from error


def _new_ids(path):
    try:
        return pretrained.class_ids(path)
    except (OSError, ValueError) as error:
        raise Refused(
            f"The label map {path} cannot be read: {error}.", "Make the dataset again.", PREFLIGHT_FAILED
        ) from error


def _unknown_classes(result, model, known, checkpoint):
    """A line each for heads that are restored by number and for those that are not restored, as nobody knows whose."""
    if known.ids:
        return []
    beginning = f"  The classes of {checkpoint} are not known ({known.why}): its class heads"
    lines = []
    if any(class_heads.layout(variable.op.name, model) for variable in result.found.values()):
        lines.append(f"{beginning} are restored as they are, by number.")
    other = [line.split(" ")[0] for line in result.missing if " (shape " in line]
    if any(class_heads.layout(name, model) for name in other):
        lines.append(f"{beginning} of another size are left out.")
    return lines


def _what_would_match(matches):
    name, best = max(matches.items(), key=lambda pair: pair[1].share)
    if best.share < REFUSED_BELOW:
        return (
            "No fine_tune_checkpoint_type matches, so it is a checkpoint of another model: take that model's, or "
            "set FINE_TUNE_CHECKPOINT=none to train from scratch."
        )
    return f'Set fine_tune_checkpoint_type: "{name}" in train_config: it finds {best.restored} of {best.wanted}.'


def _first(names, shown=NAMES_SHOWN):
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")
