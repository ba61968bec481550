"""Detectors of two convolutions and four made-up images, for scenarios that compare one step of training.

Everything but the convolutions (anchors, matching, losses, mining, the box predictors) is the API's own,
built from a pipeline config by its model builder. Nothing is normalised over the batch or dropped at random.
"""

import numpy as np
import tensorflow.compat.v1 as tf
import tf_slim as slim
from google.protobuf import text_format
from object_detection.builders import model_builder
from object_detection.core import standard_fields
from object_detection.meta_architectures import faster_rcnn_meta_arch, ssd_meta_arch
from object_detection.protos import pipeline_pb2

SIZE = 64
CLASSES = 2
_FIELDS = standard_fields.InputDataFields
_CONV = """
  activation: RELU_6
  regularizer { l2_regularizer { weight: 0.02 } }
  initializer { truncated_normal_initializer { stddev: 0.15 } }
"""
SSD = """
  model { ssd {
    num_classes: 2
    image_resizer { fixed_shape_resizer { height: 64 width: 64 } }
    feature_extractor { type: "small_ssd" conv_hyperparams { $conv } }
    box_coder { faster_rcnn_box_coder { y_scale: 10 x_scale: 10 height_scale: 5 width_scale: 5 } }
    matcher { argmax_matcher {
      matched_threshold: 0.5 unmatched_threshold: 0.5 force_match_for_each_row: true } }
    similarity_calculator { iou_similarity {} }
    box_predictor { convolutional_box_predictor {
      max_depth: 0 num_layers_before_predictor: 0 use_dropout: false kernel_size: 1 box_code_size: 4
      conv_hyperparams { $conv } } }
    anchor_generator { ssd_anchor_generator { num_layers: 2 min_scale: 0.3 max_scale: 0.6 aspect_ratios: 1 } }
    post_processing { score_converter: SIGMOID batch_non_max_suppression {} }
    loss { localization_loss { weighted_smooth_l1 {} } classification_loss { weighted_sigmoid {} }
           classification_weight: 0.05 localization_weight: 0.5 }
  } }
""".replace("$conv", _CONV)
FASTER_RCNN = """
  model { faster_rcnn {
    num_classes: 2
    image_resizer { fixed_shape_resizer { height: 64 width: 64 } }
    feature_extractor { type: "small_faster_rcnn" first_stage_features_stride: 8 }
    first_stage_anchor_generator { grid_anchor_generator {
      scales: 0.1 scales: 0.2 aspect_ratios: 1 height_stride: 8 width_stride: 8 } }
    first_stage_box_predictor_conv_hyperparams { op: CONV $conv }
    first_stage_box_predictor_depth: 16
    first_stage_positive_balance_fraction: 1.0
    first_stage_max_proposals: 24
    second_stage_batch_size: 24
    second_stage_balance_fraction: 1.0
    initial_crop_size: 4 maxpool_kernel_size: 2 maxpool_stride: 2
    second_stage_box_predictor { mask_rcnn_box_predictor {
      use_dropout: false fc_hyperparams { op: FC $conv } conv_hyperparams { op: CONV $conv } } }
    second_stage_post_processing { score_converter: SOFTMAX batch_non_max_suppression {} }
  } }
""".replace("$conv", _CONV)
TRAINING = """
  train_config {
    batch_size: 4 num_steps: 1 batch_queue_capacity: 4 num_batch_queue_threads: 1 prefetch_queue_capacity: 2
    optimizer { use_moving_average: false }
  }
"""


class SmallSsd(ssd_meta_arch.SSDFeatureExtractor):
    """Feature maps of 8 x 8 and 4 x 4."""

    def preprocess(self, resized_inputs):
        return resized_inputs / 127.5 - 1

    def extract_features(self, preprocessed_inputs):
        with tf.variable_scope("SmallSsd", reuse=self._reuse_weights), slim.arg_scope(self._conv_hyperparams_fn()):
            first = slim.conv2d(preprocessed_inputs, 8, 5, stride=8, scope="first")
            return [first, slim.conv2d(first, 8, 3, stride=2, scope="second")]


class SmallFasterRcnn(faster_rcnn_meta_arch.FasterRCNNFeatureExtractor):
    """A feature map of 8 x 8, and one convolution more for the second stage."""

    def preprocess(self, resized_inputs):
        return resized_inputs / 127.5 - 1

    def _extract_proposal_features(self, preprocessed_inputs, scope):
        with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(0.02)):
            return slim.conv2d(preprocessed_inputs, 8, 5, stride=8, scope="first"), {}

    def _extract_box_classifier_features(self, proposal_feature_maps, scope):
        with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(0.02)):
            return slim.conv2d(proposal_feature_maps, 8, 3, scope="second")


model_builder.SSD_FEATURE_EXTRACTOR_CLASS_MAP["small_ssd"] = SmallSsd
model_builder.FASTER_RCNN_FEATURE_EXTRACTOR_CLASS_MAP["small_faster_rcnn"] = SmallFasterRcnn


def pipeline(model, changes):
    """The TrainEvalPipelineConfig of a model's text proto, with the changes (text protos) merged into it."""
    config = pipeline_pb2.TrainEvalPipelineConfig()
    for text in (model, TRAINING) + tuple(changes):
        text_format.Merge(text, config)
    return config


def wants_masks(config):
    """Whether the model learns masks."""
    return config.model.faster_rcnn.second_stage_box_predictor.mask_rcnn_box_predictor.predict_instance_masks


def examples(size, masks):
    """Four images with 3, 2, 1 and 0 boxes, so that two devices have different numbers of matches.

    size: pixels a side. masks: whether to give masks. Returns a list of dicts as the API's decoder makes.
    """
    random = np.random.RandomState(3)
    boxes = np.float32(
        [
            [0.05, 0.1, 0.45, 0.5],
            [0.4, 0.5, 0.9, 0.95],
            [0.3, 0.05, 0.8, 0.4],
            [0.1, 0.2, 0.6, 0.7],
            [0.5, 0.4, 0.95, 0.9],
            [0.2, 0.3, 0.7, 0.8],
        ]
    )
    result = []
    for first, count in ((0, 3), (3, 2), (5, 1), (0, 0)):
        example = {
            _FIELDS.image: random.randint(0, 256, [size, size, 3]).astype("f"),
            _FIELDS.groundtruth_boxes: boxes[first : first + count],
            _FIELDS.groundtruth_classes: np.int64([1, 2, 1][:count]),
            _FIELDS.groundtruth_weights: np.ones([count], "f"),
        }
        if masks:
            masks_of_boxes = random.randint(0, 2, [count, size, size]).astype("f")
            example[_FIELDS.groundtruth_instance_masks] = masks_of_boxes
        result.append(example)
    return result
