"""Which images a step is made of. Added to the API by the tfod-train patch image_ids_of_clones."""

import functools

import tensorflow.compat.v1 as tf

COLLECTION = "image_ids"


def collected(get_inputs):
    """The legacy trainer's get_inputs, with the ids of its images (string, [batch]) put into COLLECTION."""

    @functools.wraps(get_inputs)
    def get_inputs_and_ids(*args, **kwargs):
        parts = list(get_inputs(*args, **kwargs))
        tf.add_to_collection(COLLECTION, tf.stack(parts[1]))
        return parts

    return get_inputs_and_ids


def checked_unless(train_fn, total_loss):
    """total_loss, stopping the step where it is not finite unless the caller runs the steps itself."""
    return total_loss if train_fn else tf.check_numerics(total_loss, "LossTensor is inf or nan.")
