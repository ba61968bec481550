"""A window for a random crop, by the graph's seed. Added to the API by the tfod-train patch
random_crop_takes_the_seed."""

import tensorflow.compat.v1 as tf
from tensorflow.python.framework import random_seed


def sample_distorted_bounding_box(image_size, bounding_boxes, **options):
    """Takes and returns what tf.image.sample_distorted_bounding_box does, less its seeds."""
    seed, seed2 = random_seed.get_seed(None)
    return tf.image.sample_distorted_bounding_box(image_size, bounding_boxes, seed=seed, seed2=seed2, **options)
