"""Patch: the workers of a cluster divide the input files, and then each shuffles its own."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.insert_first("from object_detection.utils import worker_files", "_read_dataset_internal")
    file.replace_expression(
        "tf.data.Dataset.from_tensor_slices(filenames)",
        "worker_files.dataset(filenames, filename_shard_fn)",
        inside="_read_dataset_internal",
    )
    file.insert_first("from object_detection.utils import worker_files", "shard_function_for_context")
    file.replace_statement(
        "return shard_fn", "return worker_files.known(shard_fn, input_context)", inside="shard_function_for_context"
    )
    # What is here would divide the names once more; it stands under `if filename_shard_fn`.
    file.replace_statement(
        "filename_dataset = filename_shard_fn(filename_dataset)",
        "file_read_func = worker_files.reader(file_read_func, filenames, filename_shard_fn)",
        inside="_read_dataset_internal",
    )


PATCH = Patch(
    name="files_divided_before_shuffling",
    symptom=(
        "With `shuffle: true`, the default, some files are read by several workers of a cluster in one epoch and "
        "others by none; with fewer files than workers, some workers have nothing to read."
    ),
    cause=(
        "The reader shuffles the file names and then gives every n-th to a worker, but each worker shuffles "
        "differently."
    ),
    cure=(
        "The names are sorted and divided first; each worker shuffles its own. Workers that must share a file take "
        "turns at its records."
    ),
    proven_by=(
        "`test_every_record_is_read_once_an_epoch_by_one_of_the_workers`, the case with shuffling, and "
        "`test_workers_that_outnumber_the_files_share_them_record_by_record`."
    ),
    files=("object_detection/builders/dataset_builder.py",),
    transform=transform,
    adds=("object_detection/utils/worker_files.py",),
)
