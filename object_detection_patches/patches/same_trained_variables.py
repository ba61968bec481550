"""Patch: both trainers train the same variables, and multiply the same gradients."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    function = "create_model_fn.model_fn" if path.endswith("model_lib.py") else "train"
    file.insert_first("from object_detection.utils import trained_variables", function)
    if path.endswith("model_lib.py"):
        file.replace_expression(
            "slim.optimizers.optimize_loss",
            "functools.partial(slim.optimizers.optimize_loss, "
            "gradient_multipliers=trained_variables.multipliers(train_config))",
            inside=function,
        )
    else:
        file.replace_expression(
            "model_deploy.optimize_clones",
            "functools.partial(model_deploy.optimize_clones, var_list=trained_variables.chosen(train_config))",
            inside=function,
        )


PATCH = Patch(
    name="same_trained_variables",
    symptom=(
        "`bias_grad_multiplier` does nothing in the Estimator, `update_trainable_variables` nothing in the clone "
        "trainer, and a pattern of `freeze_variables` freezes other variables in each."
    ),
    cause=(
        "Each trainer reads its own fields; the legacy one matches patterns at the start of a name, the Estimator "
        "anywhere in it."
    ),
    cure=(
        "The Estimator multiplies the gradients of biases, and the legacy trainer chooses variables as the "
        "Estimator does."
    ),
    proven_by="the case `faster_rcnn_variables`.",
    files=("object_detection/model_lib.py", "object_detection/legacy/trainer.py"),
    transform=transform,
    adds=("object_detection/utils/trained_variables.py",),
)
