"""Patch: the training input of the Estimator knows the workers and replicas it is made for."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.add_parameters("input_context=None", "create_train_input_fn._train_input_fn")
    file.replace_expression(
        "train_input(train_config, train_input_config, model_config, params=params)",
        "train_input(train_config, train_input_config, model_config, params=params, input_context=input_context)",
        inside="create_train_input_fn._train_input_fn",
    )


PATCH = Patch(
    name="input_context_in_training",
    symptom=(
        "Every worker of a cluster reads every record; under a strategy each replica gets `batch_size` images, so "
        "two GPUs train twice the batch the config names."
    ),
    cause=(
        "`inputs.train_input` divides files and batches when it is given the strategy's input context, but the "
        "input function that `create_train_input_fn` makes for the Estimator takes none."
    ),
    cure=(
        "It takes `input_context` and passes it on: `batch_size` is the batch of all replicas of all workers, as "
        "it is that of all clones in the other trainer."
    ),
    proven_by=(
        "`test_every_record_is_read_once_an_epoch_by_one_of_the_workers`, "
        "`test_workers_that_outnumber_the_files_share_them_record_by_record`, "
        "`test_batch_size_is_divided_among_the_replicas` and, of the trainings, "
        "`test_each_device_gets_its_share_of_the_batch`."
    ),
    files=("object_detection/inputs.py",),
    transform=transform,
    without="the mirrored trainer then stops with an error, rather than train another batch than it says",
)
