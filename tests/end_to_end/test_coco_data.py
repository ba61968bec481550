"""A COCO folder with polygons, run lengths and crowds: `data_prep coco`, a training with masks, its evaluation."""

import json
import os
import shutil

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_masks

from data_prep.__main__ import main as data_prep
from data_prep.formats import pets
from data_prep.tfrecord import codec

pytestmark = pytest.mark.long
BODY, CORNER = {"id": 3, "name": "body"}, {"id": 90, "name": "corner"}


def annotations(image, trimap):
    """The pet's body as run lengths, compressed or not, a corner as polygons, and in every fourth image a crowd."""
    number, width, height = image["id"], image["width"], image["height"]
    body = np.asfortranarray((trimap != 2).astype(np.uint8))
    runs = coco_masks.encode(body)
    compressed = {"size": [height, width], "counts": runs["counts"].decode("ascii")}
    edges = np.flatnonzero(np.diff(np.concatenate([[0], body.T.ravel(), [0]])))
    counts = np.diff(np.concatenate([[0], edges, [width * height]])).tolist()
    yield {
        "category_id": BODY["id"],
        "iscrowd": 0,
        "bbox": coco_masks.toBbox(runs).tolist(),
        "segmentation": compressed if number % 2 else {"size": [height, width], "counts": counts},
    }
    yield {
        "category_id": CORNER["id"],
        "iscrowd": 0,
        "bbox": [0, 0, 50.5, 40],
        "segmentation": [[0, 0, 50.5, 0, 0, 40], [1, 1, 20, 1, 20, 20, 1, 20]],
    }
    if number % 4 == 0:
        half = width // 2 * height
        yield {
            "category_id": BODY["id"],
            "iscrowd": 1,
            "bbox": [0, 0, width // 2, height],
            "segmentation": {"size": [height, width], "counts": [0, half, width * height - half]},
        }


@pytest.fixture(scope="module")
def source(mini, tmp_path_factory):
    """Folder of a COCO dataset of 60 images."""
    root = tmp_path_factory.mktemp("coco source")
    layout = pets.Layout(str(mini / "raw"))
    os.makedirs(str(root / "images"))
    images, items = [], []
    for number, stem in enumerate(pets.read_list(layout)[:60]):
        path = str(root / "images" / (stem + ".jpg"))
        shutil.copyfile(os.path.join(layout.images, stem + ".jpg"), path)
        width, height = Image.open(path).size
        images.append({"id": number, "file_name": stem + ".jpg", "width": width, "height": height})
        trimap = np.asarray(Image.open(layout.trimap(stem)))
        items += [dict(item, image_id=number) for item in annotations(images[-1], trimap)]
    for number, item in enumerate(items):
        item.update(id=number, area=item["bbox"][2] * item["bbox"][3])
    with open(str(root / "instances.json"), "w") as out:
        json.dump({"images": images, "annotations": items, "categories": [CORNER, BODY]}, out)
    return root


@pytest.fixture(scope="module")
def prepared(source, tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "coco"
    assert data_prep(["coco", "--source", str(source), "--out", str(out), "--masks", "png", "--strict"]) == 0
    return out


@pytest.fixture(scope="module")
def evaluated(tiny, prepared, project_dir, tmp_path_factory):
    # Seeded: with weights of chance no box may come near enough to a true one to have a mask loss.
    settings = dict(
        DATASET=str(prepared),
        BATCH_SIZE="2",
        SEED="2",
        PIPELINE_CONFIG=os.path.join(project_dir, "tests", "end_to_end", "scenarios", "tiny_mask_rcnn.config"),
    )
    folder = tmp_path_factory.mktemp("runs") / "coco"
    trained = tiny("train", folder, **settings)
    assert trained.code == 0, trained.console
    return tiny("eval", folder, **settings)


def test_what_was_prepared_is_fit_for_training(prepared):
    assert data_prep(["check", str(prepared), "--decode", "all"]) == 0
    with open(str(prepared / "dataset.json")) as file:
        dataset = json.load(file)
    assert dataset["classes"] == ["body", "corner"] and dataset["config"]["mask_type"] == "PNG_MASKS"
    crowds = sum(
        sum(codec.decode(payload)["image/object/is_crowd"])
        for path in prepared.glob("coco_*.record-*")
        for payload in codec.read(str(path))
    )
    assert crowds == 15


def test_a_mask_model_trains_on_it_and_both_classes_are_evaluated(evaluated):
    assert evaluated.code == 0, evaluated.console
    (entry,) = evaluated.metrics()["evaluations"]
    assert set(entry["per_class_mask_ap"]) == {"body", "corner"}
    assert entry["metrics"]["Loss/BoxClassifierLoss/mask_loss"] > 0
