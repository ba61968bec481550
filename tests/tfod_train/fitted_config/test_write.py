"""The text of a written config."""

import re

import pytest

from tfod_train.fitted_config.models import MODELS

pytestmark = pytest.mark.usefixtures("protos")


def written_for(dataset, model):
    from tfod_train.fitted_config import write

    return write.text_for(dataset, model, "no-such-folder", f"/x/{model}.config")


@pytest.mark.parametrize("model", sorted(MODELS))
def test_it_trains_as_it_stands_and_warns_of_no_more_than_it_says(model, cells_dataset, read_settings, two_cpus):
    from tests.tfod_train.config.test_shipped_configs import READ_ALL_THE_SAME, deprecated
    from tfod_train.config import pipeline
    from tfod_train.preflight import boxes

    written = written_for(cells_dataset, model)
    config = pipeline.of_text(written.text, "it")
    assert deprecated(config) <= READ_ALL_THE_SAME
    made = pipeline.effective(config, read_settings(DEVICE="cpu", BATCH_SIZE="2"), cells_dataset, two_cpus)
    assert pipeline.model_of(made.config).num_classes == 3
    # Maps of 16 px are too coarse for the tiny ones, and the config says so beside its anchors.
    short = "still short for tiny" in written.choices.anchors.reason
    assert short == (model not in ("ssd_mobilenet_v1_small", "ssd_resnet50_fpn"))
    assert all("class tiny" in what and short for what, _ in boxes.warnings(made.config, cells_dataset))


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_choice_has_its_reason_beside_it(model, cells_dataset):
    lines = written_for(cells_dataset, model).text.splitlines()
    assert max(map(len, lines)) <= 120
    for field in (
        "image_resizer",
        "anchor_generator {",
        "max_detections_per_class",
        "num_steps",
        "batch_size",
        "optimizer {",
    ):
        at = next(number for number, line in enumerate(lines) if field in line)
        above = lines[at + 1] if field == "optimizer {" else lines[at - 1]
        assert above.lstrip().startswith("# "), field


def test_the_head_has_the_command_and_the_shares_of_each_class(cells_dataset):
    head = re.match(r"(#.*\n)+", written_for(cells_dataset, "ssd_mobilenet_v1_small").text).group(0)
    assert f"DATASET={cells_dataset.folder} PIPELINE_CONFIG=/x/ssd_mobilenet_v1_small.config make train" in head
    assert re.search(r"#   tiny +0% -> +[789]\d%   of \d+\n", head)


def test_it_is_the_same_every_time(cells_dataset):
    assert written_for(cells_dataset, "ssd_mobilenet_v1").text == written_for(cells_dataset, "ssd_mobilenet_v1").text


def test_names_of_any_kind_stay_in_their_comment(cells_folder, cells_dataset, tmp_path):
    from tfod_train.config import pipeline
    from tfod_train.fitted_config import write

    evil = 'a" }\n model { ssd { num_classes: 99 } } #\u2028{{ 7 * 7 }}'
    dataset = cells_dataset._replace(name=evil)
    text = write.text_for(dataset, "ssd_mobilenet_v2", "d", 'x\n"y').text
    assert pipeline.of_text(text, "it").model.ssd.num_classes == 3 and "49" not in text.splitlines()[0]


@pytest.mark.long
@pytest.mark.tensorflow
@pytest.mark.parametrize("model", sorted(MODELS))
def test_the_api_builds_its_graph(model, cells_dataset):
    """An SSD's anchors in the graph are as many as the search counted with, and the losses can be had."""
    import tensorflow.compat.v1 as tf
    from object_detection.builders import model_builder

    from data_prep.anchors import grids
    from tfod_train.config import pipeline

    written = written_for(cells_dataset, model)
    config = pipeline.of_text(written.text, "it")
    kind = config.model.WhichOneof("model")
    width, height = (1024, 768) if kind == "faster_rcnn" else written.choices.size
    with tf.Graph().as_default():
        built = model_builder.build(config.model, is_training=True)
        shapes = tf.constant([[height, width, 3]])
        built.provide_groundtruth([tf.constant([[0.1, 0.1, 0.5, 0.5]])], [tf.one_hot([0], 3)])
        losses = built.loss(built.predict(built.preprocess(tf.zeros([1, height, width, 3]))[0], shapes), shapes)
        assert {"localization_loss", "classification_loss"} <= {name.rpartition("/")[2] for name in losses}
        if kind == "ssd":
            counted = sum(grid.cells[0] * grid.cells[1] for grid in grids.of_model(config.model, width, height))
            assert built.anchors.num_boxes_static() == counted
