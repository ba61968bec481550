"""Patch: both trainers train the same variables, and multiply the same gradients."""

NAME = "same_trained_variables"
CURES = "bias_grad_multiplier, update_trainable_variables and freeze_variables depend on the trainer"
WHY = (
    "The Estimator ignores bias_grad_multiplier. The legacy trainer ignores update_trainable_variables, "
    "and a pattern of freeze_variables freezes only names that begin with it there, while for the "
    "Estimator it may match anywhere. The Estimator now multiplies the gradients of biases, and the "
    "legacy trainer chooses variables as the Estimator does."
)
REPORTS = ()
FILES = ("object_detection/model_lib.py", "object_detection/legacy/trainer.py")
ADDS = ("object_detection/utils/trained_variables.py",)


def transform(path, file):
    """Edits object_detection/model_lib.py and object_detection/legacy/trainer.py."""
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
