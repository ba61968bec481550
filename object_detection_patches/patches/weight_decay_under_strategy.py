"""Patch: weight decay is as strong on several replicas as on one device."""

NAME = "weight_decay_under_strategy"
CURES = "weight decay divided by the number of replicas"
WHY = (
    "slim makes the regularization losses with the variables, which under a strategy are made once, on "
    "the first replica. The other replicas add the very same tensors to their loss and get no gradient "
    "from them, and the mean over replicas leaves one share: two replicas decay weights half as much as "
    "one device, eight an eighth, while the loss shown is the same. The gradient of these losses is now "
    "multiplied by the replicas of the machine."
)
REPORTS = ()
FILES = ("object_detection/model_lib.py",)
ADDS = ("object_detection/utils/weight_decay.py",)


def transform(path, file):
    """Edits object_detection/model_lib.py."""
    file.insert_first("from object_detection.utils import weight_decay", "create_model_fn.model_fn")
    file.replace_expression(
        "detection_model.regularization_losses()",
        "weight_decay.of_every_replica(detection_model.regularization_losses())",
        inside="create_model_fn.model_fn",
    )
