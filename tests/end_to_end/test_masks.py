"""A model with instance masks, from its training to images with its masks drawn: one tiny run for all."""

import glob
import io
import json
import os

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.long
CLASSES = {"Bengal", "pug", "Siamese"}


@pytest.fixture(scope="module")
def settings(with_masks, project_dir):
    """Seeded.

    What three steps make of weights of chance may draw no mask at all, or only boxes too far off to have a mask loss.
    """
    return dict(
        DATASET=str(with_masks),
        BATCH_SIZE="2",
        SEED="2",
        PIPELINE_CONFIG=os.path.join(project_dir, "tests", "end_to_end", "scenarios", "tiny_mask_rcnn.config"),
    )


@pytest.fixture(scope="module")
def evaluated(tiny, settings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "masks"
    trained = tiny("train", folder, **settings)
    assert trained.code == 0, trained.console
    return tiny("eval", folder, **settings)


@pytest.fixture(scope="module")
def exported(tiny, evaluated, settings):
    return tiny("export", evaluated.folder, **settings)


def test_masks_are_measured_each_class_and_shown(evaluated):
    assert evaluated.code == 0, evaluated.console
    (entry,) = evaluated.metrics()["evaluations"]
    assert 0 <= entry["metrics"]["DetectionMasks_Precision/mAP"] <= 1
    assert entry["metrics"]["Loss/BoxClassifierLoss/mask_loss"] > 0
    assert set(entry["per_class_mask_ap"]) == set(entry["per_class_ap"]) == set(entry["per_class_boxes"]) == CLASSES
    assert "mask COCO AP" in evaluated.console and "; of masks " in evaluated.lines[-3]
    with open(os.path.join(evaluated.folder, "report.html"), encoding="utf-8") as page:
        assert "Mask COCO mAP" in page.read()


@pytest.mark.usefixtures("protos")
def test_what_masks_are_held_against_is_what_the_records_hold(evaluated, with_masks, monkeypatch, project_dir):
    """At each image's own size, although the model sees all of them squeezed into 96 x 96."""
    from data_prep.tfrecord import codec
    from tfod_train.config import pipeline

    config = pipeline.parse(os.path.join(evaluated.folder, "pipeline.config"))
    import tensorflow.compat.v1 as tf
    from object_detection.utils import config_util

    from tests.end_to_end.scenarios import tiny_ssd
    from tfod_train.evaluation import evaluator as evaluate

    tiny_ssd.register()
    evaluator = evaluate.Evaluator(config_util.create_configs_from_pipeline_proto(config), tf.ConfigProto(), images=9)
    images = evaluator.evaluate(os.path.join(evaluated.folder, "model.ckpt-3"), lambda count: None).images
    recorded = {}
    for path in glob.glob(str(with_masks / "*_val.record-*")):
        for features in map(codec.decode, codec.read(path)):
            recorded[features["image/source_id"][0].decode("utf-8")] = [
                np.asarray(Image.open(io.BytesIO(mask))) > 0 for mask in features["image/object/mask"]
            ]
    assert len(images) == 9
    for image in images:
        for mask, own in zip(image.true_masks > 0, recorded[image.source_id]):
            assert mask.shape == own.shape == tuple(image.size)
            assert (mask & own).sum() > 0.9 * (mask | own).sum()


def test_the_masks_of_each_file_are_compared(exported):
    assert exported.code == 0, exported.console
    with open(os.path.join(exported.folder, "export", "3", "export.json")) as file:
        compared = json.load(file)["compared"]
    assert set(compared) == {"frozen_inference_graph.pb", "saved_model"}
    for one in compared.values():
        assert one["detections"] > 0 and one["largest_difference"]["masks"] < 1e-5
    assert exported.console.count(", masks to ") == 2


def test_a_file_with_other_masks_is_an_error(tiny, exported, settings, tmp_path):
    spoilt = tiny("export", exported.folder, "--out", tmp_path / "spoilt", SPOIL="masks", **settings)
    assert spoilt.code == 1, spoilt.console
    assert "0 detections have no match, coordinates differ by up to 0, scores by up to 0, masks by up to 0." in (
        spoilt.console
    )
    assert not (tmp_path / "spoilt").exists()


def test_masks_are_drawn_and_written_down_as_coco_reads_them(tiny, exported, mini, tmp_path):
    from pycocotools import mask as coco_masks

    source = str(mini / "raw" / "images" / "pug_1.jpg")
    done = tiny(
        "detect",
        "",
        "--model",
        os.path.join(exported.folder, "export", "3"),
        "--out",
        tmp_path / "drawn",
        "--min-score",
        "0.001",
        source,
    )
    assert done.code == 0, done.console
    with open(str(tmp_path / "drawn" / "detections.json")) as file:
        (found,) = json.load(file)["pictures"]
    assert found["detections"]
    inside = np.zeros((found["height"], found["width"]), bool)
    for one in found["detections"]:
        mask = coco_masks.decode(one["mask_rle"])
        assert mask.shape == (found["height"], found["width"])
        box = one["box_pixels"]
        there = np.argwhere(mask)
        if len(there):
            assert there.min(axis=0)[0] >= box["ymin"] - 2 and there.max(axis=0)[0] <= box["ymax"] + 2
            assert there.min(axis=0)[1] >= box["xmin"] - 2 and there.max(axis=0)[1] <= box["xmax"] + 2
        inside |= mask > 0
    before = np.asarray(Image.open(source).convert("RGB")).astype(int)
    after = np.asarray(Image.open(str(tmp_path / "drawn" / "pug_1.jpg")).convert("RGB")).astype(int)
    assert inside.any() and np.abs(before - after)[inside].mean() > 20
