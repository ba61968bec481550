"""Patch: the workers of a cluster divide the input files before each shuffles its own."""

NAME = "files_divided_before_shuffling"
CURES = "some files read by several workers of a cluster, others by none"
WHY = (
    "The reader shuffles the file names and then gives every n-th to a worker. Each worker shuffles "
    "differently, so what one takes another may take too, and some files are read by nobody until the next "
    "epoch shuffles anew. The names are now sorted and divided first, and each worker shuffles its own.")
REPORTS = ()
FILES = ("object_detection/builders/dataset_builder.py",)
ADDS = ("object_detection/utils/worker_files.py",)


def transform(path, file):
    """Edits object_detection/builders/dataset_builder.py."""
    file.insert_first("from object_detection.utils import worker_files", "_read_dataset_internal")
    file.replace_expression("tf.data.Dataset.from_tensor_slices(filenames)",
                            "worker_files.dataset(filenames, filename_shard_fn)",
                            inside="_read_dataset_internal")
    # What was here would divide them once more.
    file.replace_statement("filename_dataset = filename_shard_fn(filename_dataset)", "pass",
                           inside="_read_dataset_internal")
