"""The outputs of a head's variables follow the classes by name, whatever the head's layout."""

import os

import numpy as np
import pytest

from tfod_train.trainers import class_heads
from tfod_train.trainers.class_heads import NEW

OLD = {"cat": 1, "dog": 2, "horse": 3}
NEWER = {"bird": 1, "dog": 2, "cat": 3, "cow": 4}
SSD = "ssd { num_classes: 4 %s }"
RCNN = "faster_rcnn { num_classes: 4 second_stage_box_predictor { %s } }"
MASKS = "mask_rcnn_box_predictor { predict_instance_masks: true mask_prediction_num_conv_layers: %d %s }"
RFCN = "rfcn_box_predictor { box_code_size: 4 }"
SECOND = "SecondStageBoxPredictor/"


@pytest.fixture
def heads(protos):
    """function(text of a DetectionModel, old={...}, new={...}) -> its Heads."""
    from google.protobuf import text_format
    from object_detection.protos import model_pb2

    def make(text, old=OLD, new=NEWER):
        model = text_format.Parse(text, model_pb2.DetectionModel())
        return class_heads.Heads(model, len(new), class_heads.by_name(old, new))

    return make


def values(groups, classes, size, background=True):
    """A head's biases, each of which says whose it is: group, class and number, 1 + as many as 1000, 10 and 1."""
    of_group = [0] * background + list(range(1, classes + 1))
    return np.array([1000.0 * g + 10 * c + n for g in range(groups) for c in of_group for n in range(size)])


def moved(head, old):
    return class_heads.filled(np.full(len(head.outputs), -7.0), old, head.outputs).tolist()


def test_classes_are_kept_new_and_dropped_by_name():
    names = class_heads.by_name(OLD, NEWER)
    assert (names.kept, names.new, names.dropped) == (["dog", "cat"], ["bird", "cow"], ["horse"])
    assert (names.old_ids, names.old_classes) == ({2: 2, 3: 1}, 3)


@pytest.mark.parametrize(
    "name",
    [
        "BoxPredictor_0/ClassPredictor/biases",
        "BoxPredictor/ClassPredictor/biases",
        "WeightSharedConvolutionalBoxPredictor/ClassPredictor/biases",
        "BoxPredictor/ConvolutionalClassHead_2/ClassPredictor/bias",
    ],
)
def test_every_anchor_of_an_ssd_keeps_background_and_classes(name, heads):
    head = heads(SSD % "").head(name, [15], [12])
    assert moved(head, values(3, 3, 1)) == [0, -7, 20, 10, -7, 1000, -7, 1020, 1010, -7, 2000, -7, 2020, 2010, -7]


def test_kernels_are_moved_on_their_last_axis(heads):
    head = heads(SSD % "").head("BoxPredictor_0/ClassPredictor/weights", [1, 1, 2, 5], [1, 1, 2, 4])
    old = np.arange(8.0).reshape(1, 1, 2, 4)
    new = class_heads.filled(np.full((1, 1, 2, 5), -7.0), old, head.outputs)
    assert new[0, 0].tolist() == [[0, -7, 2, 1, -7], [4, -7, 6, 5, -7]]


def test_a_head_without_a_background_has_none(heads):
    head = heads(SSD % "add_background_class: false").head("BoxPredictor_0/ClassPredictor/biases", [8], [6])
    assert moved(head, values(2, 3, 1, background=False)) == [-7, 20, 10, -7, -7, 1020, 1010, -7]


def test_the_second_stage_keeps_classes_and_each_classs_boxes(heads):
    of = heads(RCNN % (MASKS % (2, "")))
    assert moved(of.head(SECOND + "ClassPredictor/biases", [5], [4]), values(1, 3, 1)) == [0, -7, 20, 10, -7]
    boxes = moved(of.head(SECOND + "BoxEncodingPredictor/biases", [16], [12]), values(1, 3, 4, background=False))
    assert boxes == [-7] * 4 + [20, 21, 22, 23, 10, 11, 12, 13] + [-7] * 4


@pytest.mark.parametrize(
    "layers, more, last",
    [(1, "", "Conv"), (2, "", "Conv_1"), (4, "", "Conv_3"), (2, "convolve_then_upsample_masks: true", "Conv_2")],
)
def test_the_last_convolution_of_the_masks_keeps_classes_and_the_others_are_no_head(layers, more, last, heads):
    of = heads(RCNN % (MASKS % (layers, more)))
    assert moved(of.head(SECOND + last + "/biases", [4], [3]), values(1, 3, 1, background=False)) == [-7, 20, 10, -7]
    before = [SECOND + ("Conv" if number == 0 else f"Conv_{number}") + "/weights" for number in range(6)]
    assert [name for name in before if of.layout(name)] == [SECOND + last + "/weights"]


def test_an_r_fcn_keeps_classes_in_each_bin(heads):
    of = heads(RCNN % RFCN)
    assert moved(of.head(SECOND + "class_predictions/biases", [10], [8]), values(2, 3, 1)) == (
        [0, -7, 20, 10, -7, 1000, -7, 1020, 1010, -7]
    )
    boxes = of.head(SECOND + "refined_locations/biases", [32], [24])
    assert moved(boxes, values(2, 3, 4, background=False))[20:28] == [1020, 1021, 1022, 1023, 1010, 1011, 1012, 1013]


@pytest.mark.parametrize(
    "model, name",
    [
        (SSD % "", "BoxPredictor_0/BoxEncodingPredictor/weights"),
        (SSD % "", "BoxPredictor_0/ClassPredictor_depthwise/depthwise_weights"),
        (SSD % "", "WeightSharedConvolutionalBoxPredictor/ClassPredictionTower/conv2d_0/weights"),
        (RCNN % (MASKS % (1, "")), "FirstStageBoxPredictor/ClassPredictor/weights"),
        (RCNN % (MASKS % (1, "masks_are_class_agnostic: true")), SECOND + "Conv/weights"),
        (RCNN % (MASKS % (1, "share_box_across_classes: true")), SECOND + "BoxEncodingPredictor/weights"),
        (RCNN % RFCN, SECOND + "reduce_depth/weights"),
    ],
)
def test_what_does_not_hang_on_the_classes_is_no_head(model, name, heads):
    assert heads(model).layout(name) is None


def test_other_names_of_as_many_classes_are_moved_too(heads):
    head = heads(SSD % "", new={"dog": 1, "cat": 2, "horse": 3}).head("BoxPredictor_0/ClassPredictor/biases", [4], [4])
    assert head.outputs.tolist() == [0, 2, 1, 3]
    head = heads(SSD % "", new={"a": 1, "b": 2, "c": 3}).head("BoxPredictor_0/ClassPredictor/biases", [4], [4])
    assert head.outputs.tolist() == [0, NEW, NEW, NEW]


@pytest.mark.parametrize("shape, old_shape", [([15], [8]), ([15], [15]), ([1, 1, 8, 5], [1, 1, 9, 4]), ([14], [12])])
def test_a_head_of_other_anchors_or_another_depth_is_left_out(shape, old_shape, heads):
    """Also where both have as many numbers: 3 anchors of 4 classes and 5 of 2 are no rows of each other."""
    assert heads(SSD % "").head("BoxPredictor_0/ClassPredictor/weights", shape, old_shape) is None


def test_ids_that_leave_some_out_keep_their_place(heads):
    head = heads(SSD % "", old={"cat": 1, "horse": 3}, new={"horse": 1}).head("ClassPredictor/biases", [2], [4])
    assert head.outputs.tolist() == [0, 3]


CONVOLUTIONS = "conv_hyperparams { regularizer { l2_regularizer {} } initializer { truncated_normal_initializer {} } }"
SHARED = "weight_shared_convolutional_box_predictor { depth: 8 num_layers_before_predictor: 1 %s use_depthwise: %s }"
BINS = "rfcn_box_predictor { depth: 8 %s crop_height: 18 crop_width: 18 }"


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "scenario, predictor, heads_of",
    [
        (
            "tiny_ssd",
            SHARED % (CONVOLUTIONS, "false"),
            {"WeightSharedConvolutionalBoxPredictor/ClassPredictor/weights": 1 + 3},
        ),
        (
            "tiny_ssd",
            SHARED % (CONVOLUTIONS, "true"),
            {"WeightSharedConvolutionalBoxPredictor/ClassPredictor/pointwise_weights": 1 + 3},
        ),
        (
            "tiny_mask_rcnn",
            BINS % CONVOLUTIONS,
            {
                "SecondStageBoxPredictor/class_predictions/weights": 9 * (1 + 37),
                "SecondStageBoxPredictor/refined_locations/weights": 9 * 37 * 4,
            },
        ),
    ],
    ids=["weight-shared", "depthwise", "R-FCN"],
)
def test_the_heads_of_the_apis_other_predictors_are_known_by_name(scenario, predictor, heads_of, protos, project_dir):
    """Those that no tiny training has: each variable with a place for each class, and its biases, no other."""
    names = variables_of(os.path.join(project_dir, "tests", "end_to_end", "scenarios", scenario), predictor)
    assert {name: shape[-1] for name, shape in names.items() if len(shape) > 1} == heads_of
    assert sorted(shape[-1] for shape in names.values()) == sorted(2 * list(heads_of.values()))


def variables_of(scenario, predictor):
    """{name: shape} of the variables with a layout, of a scenario's model with another predictor."""
    import tensorflow.compat.v1 as tf
    from google.protobuf import text_format
    from object_detection.builders import model_builder

    from tests.end_to_end.scenarios import tiny_ssd
    from tfod_train.config import pipeline

    tiny_ssd.register()
    config = pipeline.parse(scenario + ".config")
    one = pipeline.model_of(config)
    if hasattr(one, "number_of_stages"):
        one.number_of_stages = 2
        of = one.second_stage_box_predictor
    else:
        one.anchor_generator.ssd_anchor_generator.reduce_boxes_in_lowest_layer = False
        one.anchor_generator.ssd_anchor_generator.interpolated_scale_aspect_ratio = 0
        of = one.box_predictor
    of.Clear()
    text_format.Merge(predictor, of)
    with tf.Graph().as_default():
        model = model_builder.build(config.model, is_training=True)
        model.provide_groundtruth([tf.constant([[0.0, 0, 1, 1]])], [tf.one_hot([1], one.num_classes)])
        model.predict(*model.preprocess(tf.zeros([1, 96, 96, 3])))
        variables = {variable.op.name: variable.shape.as_list() for variable in tf.global_variables()}
    return {name: shape for name, shape in variables.items() if class_heads.layout(name, config.model)}
