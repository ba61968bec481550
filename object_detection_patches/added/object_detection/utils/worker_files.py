"""What a worker of a cluster reads. Added to the API by the tfod-train patch files_divided_before_shuffling."""

import tensorflow.compat.v1 as tf


def known(shard, input_context):
    """The shard function, knowing the number of workers and this one's number from a tf.distribute.InputContext."""
    shard.workers, shard.worker = input_context.num_input_pipelines, input_context.input_pipeline_id
    return shard


def dataset(filenames, shard):
    """The names of the files that this worker reads.

    Args:
        filenames: list of str, the same on every worker.
        shard: what `known` returned; None where there is one worker.

    Returns:
        A tf.data.Dataset of file names, sorted. To be shuffled only now: each worker shuffles differently.
    """
    names = sorted(filenames)
    if shard and len(names) < shard.workers:
        return tf.data.Dataset.from_tensors(names[shard.worker % len(names)])
    names = tf.data.Dataset.from_tensor_slices(names)
    return shard(names) if shard else names


def reader(read, filenames, shard):
    """A function from a file name to a dataset of those of its records that are this worker's.

    Args:
        read: function from a file name to a dataset of all its records.
        filenames: as for `dataset`. Only where there are fewer of them than workers do some share a file.
        shard: what `known` returned.
    """
    if len(filenames) >= shard.workers:
        return read
    files = len(filenames)
    sharing = len(range(shard.worker % files, shard.workers, files))
    return lambda name: read(name).shard(sharing, shard.worker // files)
