"""Patch: the moving average of the weights, on by default, works under a distribution strategy."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    # Imported in the function: the module needs tf.contrib, and this function is the one that runs on
    # TensorFlow 1.
    file.insert_first("from object_detection.utils import strategy_moving_average", "build_optimizers_tf_v1")
    file.replace_expression(
        "tf_opt.MovingAverageOptimizer",
        "strategy_moving_average.MovingAverageOptimizer",
        inside="build_optimizers_tf_v1",
    )


PATCH = Patch(
    name="moving_average_under_strategy",
    symptom=(
        '"Tensor .../replica_1/ExponentialMovingAverage/ does not exist" under a strategy, with any config that '
        "does not set `use_moving_average: false` (true is the default)."
    ),
    cause=(
        "tf.contrib's `MovingAverageOptimizer` creates the averages from inside each replica, so the second "
        "replica asks for variables nobody made."
    ),
    cure=(
        "An optimizer of our own updates the averages once for all replicas, in one `merge_call` after the weights "
        "of the same step, with the numbers and the checkpoint names of one device. Without a strategy it is "
        "tf.contrib's."
    ),
    proven_by=(
        "`test_variables_and_averages_are_those_of_one_device` (momentum, RMSProp and Adam on 1 and 2 replicas, to "
        "1e-5), `test_averages_take_the_weights_of_the_same_step` and `test_evaluation_reads_the_averages`."
    ),
    files=("object_detection/builders/optimizer_builder.py",),
    transform=transform,
    adds=("object_detection/utils/strategy_moving_average.py",),
    reports=("tensorflow/tensorflow#27392", "tensorflow/tensorflow#21405"),
)
