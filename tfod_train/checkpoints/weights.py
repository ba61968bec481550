"""Which weights of a checkpoint an evaluation or an export takes: the moving averages or the raw ones."""

from typing import Any, Container, Dict, Iterable, NamedTuple

from common.text import counted

AVERAGE = "/ExponentialMovingAverage"
NO_AVERAGES = "raw (the checkpoint holds no moving averages)"


class Weights(NamedTuple):
    """`restore` is variables by their name in the checkpoint, for a Saver; `words` are for people: `raw`, ..."""

    restore: Dict[str, Any]
    words: str


def choose(
    variables: Dict[str, Any], trainable: Iterable[str], in_checkpoint: Container[str], averages_wanted: bool
) -> Weights:
    """The Weights to take, from what the checkpoint holds.

    The config may have changed since the checkpoint was written, and layers that were frozen have no average: what
    is wanted and not there is taken raw, and named.

    Args:
        variables: dict of name to variable of the graph.
        trainable: names of those that a training changes and averages.
        in_checkpoint: names of the variables in the checkpoint.
        averages_wanted: the config's eval_config.use_moving_averages, unless something overrides it.
    """
    averaged = {name for name in trainable if name + AVERAGE in in_checkpoint}
    if not averages_wanted:
        return Weights(dict(variables), "raw (the checkpoint holds moving averages too)" if averaged else "raw")
    if not averaged:
        return Weights(dict(variables), NO_AVERAGES)
    restore = {name + AVERAGE if name in averaged else name: variable for name, variable in variables.items()}
    without = len(set(trainable) - averaged)
    rest = f" (raw for {counted(without, 'variable')} without an average)" if without else ""
    return Weights(restore, f"moving-average{rest}")


def of_graph(checkpoint: str, averages_wanted: bool) -> Weights:
    """`choose` for the variables of TensorFlow's default graph and a checkpoint (path without .index)."""
    import tensorflow.compat.v1 as tf

    return choose(
        {variable.op.name: variable for variable in tf.global_variables()},
        {variable.op.name for variable in tf.trainable_variables()},
        {name for name, _ in tf.train.list_variables(checkpoint)},
        averages_wanted,
    )
