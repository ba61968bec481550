"""Patch: weight decay is as strong on several replicas as on one device."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.insert_first("from object_detection.utils import weight_decay", "create_model_fn.model_fn")
    file.replace_expression(
        "detection_model.regularization_losses()",
        "weight_decay.of_every_replica(detection_model.regularization_losses())",
        inside="create_model_fn.model_fn",
    )


PATCH = Patch(
    name="weight_decay_under_strategy",
    symptom=(
        "None to see: the loss is right, but two replicas decay weights half as much as one device, eight an eighth."
    ),
    cause=(
        "slim makes the regularization losses with the variables, once, on the first replica; the other replicas "
        "add the same tensors and get no gradient from them, and the mean over replicas leaves one share."
    ),
    cure="Their gradient is multiplied by the replicas of the machine; their values stay.",
    proven_by="the cases `faster_rcnn_decay`, `mobilenet` and those with `decay` in their name, on replicas.",
    files=("object_detection/model_lib.py",),
    transform=transform,
    adds=("object_detection/utils/weight_decay.py",),
)
