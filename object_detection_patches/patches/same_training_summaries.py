"""Patch: TensorBoard shows the same losses and learning rate, under the same tags, for both trainers."""

NAME = "same_training_summaries"
CURES = "TensorBoard shows the sum of the clones' losses, the first replica's loss, or nothing"
WHY = (
    "With several clones Losses/TotalLoss is the sum over clones, the parts of the loss are each clone's "
    "own, and the learning rate is missing, because only summaries of the first clone are written. Under "
    "a strategy the model shows the first replica's loss, and no parts of it. Both now show "
    "Losses/TotalLoss, Losses/regularization_loss, Losses/Loss/... and the learning rate, and every loss "
    "is the mean over devices, which is what is trained on."
)
REPORTS = ()
FILES = ("object_detection/model_lib.py", "object_detection/legacy/trainer.py")
ADDS = ("object_detection/utils/training_summaries.py", "object_detection/utils/replicas.py")


def transform(path, file):
    """Edits object_detection/model_lib.py and object_detection/legacy/trainer.py."""
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
