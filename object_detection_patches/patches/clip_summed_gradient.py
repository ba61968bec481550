"""Patch: both trainers clip the gradient that is applied, by its global norm."""

NAME = "clip_summed_gradient"
CURES = "gradient_clipping_by_norm means something else for each trainer and number of devices"
WHY = (
    "Under a strategy each replica clips its own share of the gradient before the sum, so the threshold "
    "is up to as many times higher as there are replicas. The legacy trainer clips every variable's "
    "gradient by that variable's own norm. Both now clip the summed gradient by its global norm, as the "
    "Estimator does on one device; a config for the legacy trainer may want a higher threshold for that. "
    "Under a strategy the gradients are summed over devices once more than without clipping. Leave this "
    "patch out to keep the API's own arithmetic."
)
REPORTS = ()
FILES = ("object_detection/model_lib.py", "object_detection/legacy/trainer.py")
ADDS = ("object_detection/utils/gradient_clipping.py", "object_detection/utils/replicas.py")


def transform(path, file):
    """Edits object_detection/model_lib.py and object_detection/legacy/trainer.py."""
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
