"""A detection model of a few numbers, and made-up images for it, for scenarios that go through the API's
trainers.

It predicts one box per image from the image's mean color and the loss is the squared distance to the
first box: everything around it (the trainers, the optimizer, saving, evaluation, export) is the API's own.
"""

import numpy as np
import tensorflow.compat.v1 as tf
from object_detection.core import model, standard_fields

SIZE = 8
_FIELDS = standard_fields.InputDataFields


class LineModel(model.DetectionModel):
    """Weights [3, 4] and a bias [4]."""

    def __init__(self, is_training=True, add_summaries=True):
        del add_summaries
        super(LineModel, self).__init__(num_classes=1)
        self._trains = is_training

    def preprocess(self, inputs):
        shapes = tf.tile([[SIZE, SIZE, 3]], [tf.shape(inputs)[0], 1])
        return tf.image.resize_images(inputs, [SIZE, SIZE]), shapes

    def predict(self, preprocessed_inputs, true_image_shapes):
        del true_image_shapes
        colors = tf.reduce_mean(preprocessed_inputs, axis=[1, 2])
        with tf.variable_scope("line", reuse=tf.AUTO_REUSE):
            weights = tf.get_variable("weights", [3, 4], initializer=tf.ones_initializer())
            bias = tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
        return {"boxes": tf.matmul(colors, weights) + bias}

    def loss(self, prediction_dict, true_image_shapes):
        del true_image_shapes
        wanted = tf.stack([boxes[0] for boxes in self.groundtruth_lists("boxes")])
        return {"Loss/line": tf.reduce_mean(tf.square(prediction_dict["boxes"] - wanted))}

    def postprocess(self, prediction_dict, true_image_shapes):
        del true_image_shapes
        boxes = tf.expand_dims(tf.clip_by_value(prediction_dict["boxes"], 0, 1), 1)
        ones = tf.ones_like(boxes[:, :, 0])
        return {
            "detection_boxes": boxes,
            "detection_scores": ones,
            "detection_classes": ones * 0,
            "num_detections": ones[:, 0],
        }

    def regularization_losses(self):
        return []

    def updates(self):
        return []

    def restore_map(self, fine_tune_checkpoint_type="detection", load_all_detection_checkpoint_vars=False):
        return {}

    def restore_from_objects(self, fine_tune_checkpoint_type="detection"):
        return {}


class LineModelWithStatistics(LineModel):
    """The same, and a moving statistic of the images such as batch normalisation keeps in training."""

    def predict(self, preprocessed_inputs, true_image_shapes):
        with tf.variable_scope("line", reuse=tf.AUTO_REUSE):
            moving = tf.get_variable(
                "moving_mean",
                [3],
                initializer=tf.zeros_initializer(),
                trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.MEAN,
            )
        if self._trains:
            colors = tf.reduce_mean(preprocessed_inputs, axis=[0, 1, 2])
            self._update = moving.assign_sub((moving - colors) * 0.1)
        return super(LineModelWithStatistics, self).predict(preprocessed_inputs, true_image_shapes)

    def updates(self):
        return [self._update]


def images_and_boxes():
    """80 images [80, 8, 8, 3] and a box for each [80, 1, 4], float32, always the same."""
    random = np.random.RandomState(7)
    images = random.rand(80, SIZE, SIZE, 3).astype("f")
    return images, np.float32([0.1, 0.2, 0.6, 0.8]) + random.rand(80, 1, 4).astype("f") / 10


def dataset(batch, repeat=True):
    """The images in order, in batches, in the form of the API's input functions."""
    images, boxes = images_and_boxes()
    features = {
        _FIELDS.image: images,
        "hash": np.arange(80, dtype="i"),
        _FIELDS.true_image_shape: np.tile([[SIZE, SIZE, 3]], [80, 1]).astype("i"),
    }
    labels = {
        _FIELDS.groundtruth_boxes: boxes,
        _FIELDS.groundtruth_classes: np.ones([80, 1, 1], "f"),
        _FIELDS.groundtruth_weights: np.ones([80, 1], "f"),
        _FIELDS.num_groundtruth_boxes: np.ones([80], "i"),
    }
    result = tf.data.Dataset.from_tensor_slices((features, labels))
    return (result.repeat() if repeat else result).batch(batch, drop_remainder=True)


def loss(weights, bias):
    """The mean loss over all images with these weights."""
    images, boxes = images_and_boxes()
    predicted = images.mean(axis=(1, 2)).dot(np.reshape(weights, [3, 4])) + bias
    return float(np.mean((predicted - boxes[:, 0]) ** 2))
