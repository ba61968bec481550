"""Patch: the moving average of the weights, on by default, works under a distribution strategy."""

NAME = "moving_average_under_strategy"
CURES = '"variable .../ExponentialMovingAverage does not exist" under a strategy'
WHY = (
    "The optimizer that keeps averages creates them from inside each replica, so the second replica asks "
    'for variables that nobody made (".../replica_1/ExponentialMovingAverage/ does not exist"), and people '
    "switch the average off. The optimizer we add updates the averages once for all replicas, after the "
    "weights of the same step, with the same numbers and the same checkpoint names as on one device. "
    "Without a strategy it is the stock optimizer."
)
REPORTS = ("tensorflow/tensorflow#27392", "tensorflow/tensorflow#21405")
FILES = ("object_detection/builders/optimizer_builder.py",)
ADDS = ("object_detection/utils/strategy_moving_average.py",)


def transform(path, file):
    """Edits object_detection/builders/optimizer_builder.py."""
    # Imported in the function: the module needs tf.contrib, and this function is the one that runs on
    # TensorFlow 1.
    file.insert_first("from object_detection.utils import strategy_moving_average", "build_optimizers_tf_v1")
    file.replace_expression(
        "tf_opt.MovingAverageOptimizer",
        "strategy_moving_average.MovingAverageOptimizer",
        inside="build_optimizers_tf_v1",
    )
