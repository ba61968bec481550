"""Patch: TensorBoard shows the same losses and learning rate, under the same tags, for both trainers."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    function = "create_model_fn.model_fn" if path.endswith("model_lib.py") else "train"
    file.insert_first("from object_detection.utils import training_summaries", function)
    if path.endswith("model_lib.py"):
        file.insert_before(
            "summaries = [] if use_tpu else None",
            "if not use_tpu:\n  training_summaries.of_model(losses_dict)",
            inside=function,
        )
        file.replace_statement(
            "summaries = [] if use_tpu else None",
            "summaries = [] if use_tpu else ['global_gradient_norm']",
            inside=function,
        )
        file.replace_statement(
            "tf.summary.scalar(var.op.name, var)",
            "tf.summary.scalar(var.op.name, var, family='LearningRate')",
            inside=function,
        )
    else:
        file.replace_expression(
            "tf.losses.get_losses()", "training_summaries.of_clones(clones, regularization_losses)", inside=function
        )
        file.replace_expression("tf.losses.get_total_loss()", "total_loss", inside=function)
        rate = "tf.summary.scalar(var.op.name, var, family='LearningRate')"
        file.replace_statement(rate, f"global_summaries.add({rate})", inside=function)


PATCH = Patch(
    name="same_training_summaries",
    symptom=(
        "With n clones `Losses/TotalLoss` is n times too high, the parts of the loss are each clone's own and the "
        "learning rate is missing; under a strategy `loss` is the first replica's, and its parts are not shown."
    ),
    cause=(
        "The legacy trainer adds up the losses of all clones and writes the summaries of the first; the "
        "Estimator's model function writes what its first replica has."
    ),
    cure=(
        "Both write `Losses/TotalLoss`, `Losses/regularization_loss`, `Losses/Loss/...` and `LearningRate/...`, "
        "each the mean over devices, which is what is trained on. `global_norm/gradient_norm` of the Estimator "
        "stays the first replica's share; `tfod_train/hooks/summaries.py` leaves it out."
    ),
    proven_by=(
        "`test_tensorboard_shows_the_same_numbers_for_one_device_replicas_and_clones` and "
        "`test_the_estimator_reports_the_loss_of_the_whole_batch`."
    ),
    files=("object_detection/model_lib.py", "object_detection/legacy/trainer.py"),
    transform=transform,
    adds=("object_detection/utils/training_summaries.py", "object_detection/utils/replicas.py"),
)
