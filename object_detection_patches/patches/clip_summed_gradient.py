"""Patch: both trainers clip the gradient that is applied, by its global norm."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    function = "create_model_fn.model_fn" if path.endswith("model_lib.py") else "train"
    file.insert_first("from object_detection.utils import gradient_clipping", function)
    if path.endswith("model_lib.py"):
        file.replace_statement(
            "clip_gradients_value = train_config.gradient_clipping_by_norm",
            "clip_gradients_value = gradient_clipping.by_global_norm(train_config.gradient_clipping_by_norm)",
            inside=function,
        )
    else:
        file.replace_expression(
            "slim.learning.clip_gradient_norms(grads_and_vars, train_config.gradient_clipping_by_norm)",
            "gradient_clipping.by_global_norm(train_config.gradient_clipping_by_norm)(grads_and_vars)",
            inside=function,
        )


PATCH = Patch(
    name="clip_summed_gradient",
    symptom="`gradient_clipping_by_norm` clips less with more replicas, and something else in the clone trainer.",
    cause=(
        "The Estimator clips each replica's share of the gradient before the sum, so the threshold is up to as "
        "many times higher as there are replicas; the legacy trainer clips each variable's gradient by that "
        "variable's own norm."
    ),
    cure=(
        "Both clip the summed gradient by its global norm, as the Estimator does on one device. A threshold chosen "
        "for the legacy trainer may have to be higher now. Under a strategy, clipping sums the gradients over "
        "devices one more time."
    ),
    proven_by="the cases with `clip` in their name, `mobilenet` and `test_two_workers_take_the_step_of_one`.",
    files=("object_detection/model_lib.py", "object_detection/legacy/trainer.py"),
    transform=transform,
    adds=("object_detection/utils/gradient_clipping.py", "object_detection/utils/replicas.py"),
    without="the arithmetic is then the API's own",
)
