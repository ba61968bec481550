"""Does a model suit the boxes of a dataset? On records made for that; test_checks.py has the line of the look."""

import json

import pytest

from data_prep.tfrecord import codec
from data_prep.writer.dataset import label_map_text
from tests.data_prep.foreign_records import example, write
from tfod_train.config.dataset import Dataset
from tfod_train.fitted_config import boxes as sampled
from tfod_train.preflight import boxes

pytestmark = pytest.mark.usefixtures("protos")

SSD = """model { ssd {
    image_resizer { fixed_shape_resizer { width: 160 height: 160 } }
    feature_extractor { type: "ssd_mobilenet_v1" }
    anchor_generator { ssd_anchor_generator {
        num_layers: 4 min_scale: 0.15 max_scale: 0.7 aspect_ratios: 1.0 reduce_boxes_in_lowest_layer: false } }
    post_processing { batch_non_max_suppression { max_total_detections: 20 } } } }"""
LARGE, TINY = (0.2, 0.2, 0.5, 0.5), (0.32, 0.32, 0.36, 0.36)


@pytest.fixture
def told(tmp_path):
    """function(*payloads, most_boxes, config) -> the warnings of a dataset whose two train shards share them."""

    def look(*payloads, most_boxes=0, config=SSD):
        from google.protobuf import text_format
        from object_detection.protos import pipeline_pb2

        (tmp_path / "map").write_text(label_map_text(["cat", "dog"]))
        for number in range(2):
            write(tmp_path / f"a_train.record-{number:05d}-of-00002", *payloads[number::2])
        description = {
            "label_map": "map",
            "classes": ["cat", "dog"],
            "most_boxes": most_boxes,
            "splits": {"train": {"pattern": "a_train.record-?????-of-00002"}},
        }
        dataset = Dataset("a", str(tmp_path), "", json.loads(json.dumps(description)))
        return boxes.warnings(text_format.Parse(config, pipeline_pb2.TrainEvalPipelineConfig()), dataset)

    return look


def both(number):
    return example(number, boxes=[LARGE, TINY], labels=[1, 2])


def test_boxes_that_fit_are_no_warning(told):
    assert told(*[example(number, boxes=[LARGE]) for number in range(4)], most_boxes=20) == []


def test_a_class_that_no_anchor_fits_is_named_with_the_images_looked_at(told, tmp_path):
    ((what, do),) = told(*map(both, range(4)))
    assert what == (
        "The model's anchors do not fit every class, in 4 images looked at: class dog: 0% of its boxes have an anchor "
        "of IoU 0.5 or more (0 of 4)."
    )
    assert f"data_prep check {tmp_path} --config FILE" in do


def test_more_boxes_than_the_model_can_find_are_a_warning(told):
    ((what, do),) = told(example(0, boxes=[LARGE]), most_boxes=21)
    assert what.startswith("An image has 21 boxes, and max_total_detections is 20") and "more than 21" in do


def test_the_sample_is_taken_from_each_shard(told, monkeypatch):
    monkeypatch.setattr(sampled, "IMAGES_LOOKED_AT", 4)
    payloads = [both(number) if number % 2 else example(number, boxes=[LARGE]) for number in range(20)]
    ((what, _),) = told(*payloads)
    assert "in 4 images looked at: class dog: 0% of its boxes" in what and "(0 of 2)" in what


def test_a_record_that_cannot_be_read_is_left_to_the_check(told):
    broken = [b"\xff", codec.encode({}), example(1, width=None), example(2, width=[0])]
    ((what, _),) = told(*broken, both(0))
    assert "in 1 images looked at" in what


def test_a_config_that_does_not_tell_its_anchors_is_not_judged(told):
    assert told(*map(both, range(4)), config=SSD.replace("ssd_mobilenet_v1", "embedded_ssd_mobilenet_v1")) == []
    assert told(*map(both, range(4)), config="model { ssd { } }") == []
