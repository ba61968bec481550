"""The anchors of a config are those that the API makes of it."""

import pytest
from google.protobuf import text_format

pytestmark = pytest.mark.tensorflow

SSD = "ssd { feature_extractor { type: 'ssd_mobilenet_v1' } anchor_generator { ssd_anchor_generator { %s } } }"
FPN = "ssd { anchor_generator { multiscale_anchor_generator { %s } } }"
RCNN = "faster_rcnn { first_stage_anchor_generator { grid_anchor_generator { %s } } }"


def model_of(text):
    from object_detection.protos import model_pb2

    return text_format.Parse(text, model_pb2.DetectionModel())


def of_api(model, maps, width, height):
    """(xmin, ymin, xmax, ymax) in px of all anchors that the API makes on feature maps of these (height, width)."""
    import tensorflow.compat.v1 as tf
    from object_detection.builders import anchor_generator_builder

    ssd = model.WhichOneof("model") == "ssd"
    config = model.ssd.anchor_generator if ssd else model.faster_rcnn.first_stage_anchor_generator
    with tf.Graph().as_default(), tf.Session() as session:
        # The grid of Faster R-CNN knows no image.
        size = dict(im_height=height, im_width=width) if ssd else {}
        lists = anchor_generator_builder.build(config).generate(maps, **size)
        sides = session.run(tf.concat([one.get() for one in lists], 0))
    scale = 1 if not ssd else (height, width, height, width)
    return {(round(x), round(y), round(X), round(Y)) for y, x, Y, X in (sides * scale * 100).tolist()}


def of_ours(grids):
    return {
        tuple(round(100 * value) for value in (x - w / 2, y - h / 2, x + w / 2, y + h / 2))
        for (w, h), first, step, count in grids
        for x in (first[0] + n * step[0] for n in range(count[0]))
        for y in (first[1] + n * step[1] for n in range(count[1]))
    }


def near(ours, theirs):
    """Rounding takes either hundredth of a px."""
    assert len(ours) == len(theirs)
    for one, other in zip(sorted(ours), sorted(theirs)):
        assert one == pytest.approx(other, abs=1)


@pytest.mark.parametrize(
    "fields",
    [
        "num_layers: 3 aspect_ratios: [1.0, 2.0, 0.5]",
        "num_layers: 3 min_scale: 0.1 max_scale: 0.6 aspect_ratios: 1 reduce_boxes_in_lowest_layer: false",
        "num_layers: 3 scales: [0.05, 0.2, 0.6] aspect_ratios: [1, 3] interpolated_scale_aspect_ratio: 0 "
        "reduce_boxes_in_lowest_layer: false",
        "num_layers: 3 aspect_ratios: 2 base_anchor_height: 0.7 base_anchor_width: 1.2",
    ],
)
@pytest.mark.parametrize(
    "width, height, maps", [(96, 96, [(6, 6), (3, 3), (2, 2)]), (150, 70, [(5, 10), (3, 5), (2, 3)])]
)
def test_an_ssds_anchors_are_those_of_the_api(fields, width, height, maps):
    from data_prep.anchors import grids

    model = model_of(SSD % fields)
    near(of_ours(grids.of_model(model, width, height)), of_api(model, maps, width, height))


def test_a_pyramids_anchors_are_those_of_the_api():
    from data_prep.anchors import grids

    model = model_of(FPN % "min_level: 3 max_level: 5 anchor_scale: 4 aspect_ratios: [1, 2, 0.5] scales_per_octave: 2")
    near(of_ours(grids.of_model(model, 96, 72)), of_api(model, [(9, 12), (5, 6), (3, 3)], 96, 72))


def test_faster_rcnns_anchors_are_those_of_the_api_that_lie_in_the_image():
    from data_prep.anchors import grids

    model = model_of(RCNN % "scales: [0.25, 0.5, 4] aspect_ratios: [0.5, 1, 2] height_stride: 16 width_stride: 16")
    theirs = {
        box for box in of_api(model, [(8, 10)], 160, 128) if min(box[:2]) >= 0 and box[2] <= 16000 and box[3] <= 12800
    }
    near(of_ours(grids.of_model(model, 160, 128)), theirs)


@pytest.mark.parametrize(
    "text",
    [
        "ssd { feature_extractor { type: 'embedded_ssd_mobilenet_v1' } anchor_generator { ssd_anchor_generator {} } }",
        SSD % "height_stride: 16 width_stride: 16",
        "faster_rcnn { clip_anchors_to_image: true first_stage_anchor_generator { grid_anchor_generator {} } }",
        "ssd {}",
        SSD % "aspect_ratios: 0",
        RCNN % "scales: 1 aspect_ratios: -1",
        RCNN % "scales: 1 aspect_ratios: 1 width_stride: 0",
    ],
)
def test_anchors_that_the_config_alone_does_not_tell_are_not_guessed(text):
    from data_prep.anchors import grids

    assert grids.of_model(model_of(text), 96, 96) is None
