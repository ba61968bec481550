"""Patch: the clone trainer keeps the ids of the images of a step, and its caller may judge the loss."""

NAME = "image_ids_of_clones"
CURES = "a loss that is NaN, and no word on the images it came from"
WHY = (
    "The legacy trainer reads each image's id and drops it, and stops a loss that is not finite inside of "
    "the step's graph, so that nothing else of that step can be had. The ids of the images that each clone "
    "takes are now in the graph collection image_ids; and a caller that runs the steps itself (train_fn of "
    "clone_trainer_session) gets the loss as it is, and has to look at it. The API's own training loop stops "
    "as before."
)
REPORTS = ("tensorflow/models#2625", "tensorflow/models#4881")
FILES = ("object_detection/legacy/trainer.py",)
ADDS = ("object_detection/utils/image_ids.py",)


def transform(path, file):
    """Edits object_detection/legacy/trainer.py."""
    for function in ("_create_losses", "train"):
        file.insert_first("from object_detection.utils import image_ids", function)
    file.replace_expression("get_inputs", "image_ids.collected(get_inputs)", inside="_create_losses")
    file.replace_expression(
        "tf.check_numerics(total_loss, 'LossTensor is inf or nan.')",
        "image_ids.checked_unless(train_fn, total_loss)",
        inside="train",
    )
