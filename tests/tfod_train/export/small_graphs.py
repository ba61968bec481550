"""A graph with the names of an exported detector: it finds two boxes, whose scores are the image's mean and a half."""

import tensorflow.compat.v1 as tf

BOXES = [[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]


def build(with_masks=False):
    """Builds it in the default graph, around the variable `shift`; returns (outputs, inputs) by name."""
    image = tf.placeholder(tf.uint8, [1, None, None, 3], name="image_tensor")
    shift = tf.get_variable("shift", initializer=0.0)
    first = tf.reduce_mean(tf.cast(image, tf.float32)) / 255 + shift
    outputs = {
        "num_detections": tf.constant([2.0]),
        "detection_boxes": tf.constant([BOXES]),
        "detection_scores": tf.stack([first, 0.5, 0.0])[None],
        "detection_classes": tf.constant([[3.0, 1.0, 1.0]]),
    }
    if with_masks:
        outputs["detection_masks"] = tf.ones([1, 3, 2, 2])
    return {name: tf.identity(tensor, name=name) for name, tensor in outputs.items()}, {"inputs": image}
