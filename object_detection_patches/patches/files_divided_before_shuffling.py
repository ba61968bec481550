"""Patch: the workers of a cluster divide the input files, and then each shuffles its own."""

NAME = "files_divided_before_shuffling"
CURES = "some files read by several workers of a cluster, others by none"
WHY = (
    "The reader shuffles the file names and then gives every n-th to a worker. Each worker shuffles "
    "differently, so what one takes another may take too, and some files are read by nobody until the next "
    "epoch shuffles anew. Where there are fewer files than workers, some have nothing to read at all. The names "
    "are now sorted and divided first, and each worker shuffles its own; workers that must share a file take "
    "turns at its records."
)
REPORTS = ()
FILES = ("object_detection/builders/dataset_builder.py",)
ADDS = ("object_detection/utils/worker_files.py",)


def transform(path, file):
    """Edits object_detection/builders/dataset_builder.py."""
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
