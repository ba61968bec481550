"""Which files a worker of a cluster reads. Added to the API by the tfod-train patch
files_divided_before_shuffling."""
import tensorflow.compat.v1 as tf


def dataset(filenames, shard):
    """The names of the files that this worker reads.

    Args:
        filenames: list of str, the same on every worker.
        shard: function from a dataset to this worker's part of it; None where there is one worker.

    Returns:
        A tf.data.Dataset of file names, sorted. To be shuffled only now: each worker shuffles differently.
    """
    names = tf.data.Dataset.from_tensor_slices(sorted(filenames))
    return shard(names) if shard else names
