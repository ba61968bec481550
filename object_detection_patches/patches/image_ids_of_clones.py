"""Patch: the clone trainer keeps the ids of the images of a step, and its caller may judge the loss."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    for function in ("_create_losses", "train"):
        file.insert_first("from object_detection.utils import image_ids", function)
    file.replace_expression("get_inputs", "image_ids.collected(get_inputs)", inside="_create_losses")
    file.replace_expression(
        "tf.check_numerics(total_loss, 'LossTensor is inf or nan.')",
        "image_ids.checked_unless(train_fn, total_loss)",
        inside="train",
    )


PATCH = Patch(
    name="image_ids_of_clones",
    symptom="The loss is NaN, and nothing says which images it came from.",
    cause=(
        "The legacy trainer reads each image's id and drops it, and `tf.check_numerics` on the loss ends the step "
        "before anything else of it can be had."
    ),
    cure=(
        "The ids that each clone takes are in the graph collection `image_ids`, and a caller that runs the steps "
        "itself (`train_fn` of `clone_trainer_session`) gets the loss as it is and has to look at it; tfod-train's "
        "step hook does so before anything is saved. The API's own training loop stops as before."
    ),
    proven_by="`test_the_images_of_each_clone_are_known_and_the_loss_is_for_the_caller_to_judge`.",
    files=("object_detection/legacy/trainer.py",),
    transform=transform,
    adds=("object_detection/utils/image_ids.py",),
    reports=("tensorflow/models#2625", "tensorflow/models#4881"),
)
