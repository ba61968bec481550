"""The built-in dataset: the layout of the real one, the same bytes each time, and something to learn."""

import io
import json
import os

import pytest
from PIL import Image

from data_prep.check import quick
from data_prep.mini_pets import generate
from data_prep.source import annotation as annotations


def dataset_of(mini):
    return json.loads((mini / "dataset.json").read_text(encoding="utf-8"))


def read_ids(path):
    return [line.split()[0] for line in path.read_text().splitlines() if not line.startswith("#")]


def test_it_is_fit_for_training_and_split_as_the_real_one(mini):
    dataset = dataset_of(mini)
    assert quick.quick(str(mini)) == []
    assert dataset["classes"] == ["Bengal", "pug", "Siamese"]
    assert 130 <= dataset["splits"]["train"]["examples"] <= 140
    assert 55 <= dataset["splits"]["val"]["examples"] <= 60


@pytest.mark.parametrize("split, least", [("train", 45), ("val", 15)])
def test_every_class_has_its_share_of_boxes_in_both_splits(mini, split, least):
    counts = dataset_of(mini)["splits"][split]["boxes_per_class"]
    assert min(counts.values()) >= least, counts


def test_it_has_the_layout_of_the_real_dataset(mini):
    raw = mini / "raw"
    listed, trainval, test = (read_ids(raw / "annotations" / name) for name in ("list.txt", "trainval.txt", "test.txt"))
    assert sorted(trainval + test) == sorted(listed) and len(set(listed)) == len(listed)
    assert sorted(os.listdir(str(raw / "images"))) == sorted(name + ".jpg" for name in listed)
    trimaps = os.listdir(str(raw / "annotations" / "trimaps"))
    assert sorted(trimaps) == sorted(name + ".png" for name in listed)
    with_xml = {name[:-4] for name in os.listdir(str(raw / "annotations" / "xmls"))}
    assert set(trainval) - with_xml == {"pug_8"} and not with_xml & set(test)


def test_it_has_a_png_named_jpg_and_says_what_became_of_it(mini):
    formats = {
        name: Image.open(str(mini / "raw" / "images" / name)).format
        for name in os.listdir(str(mini / "raw" / "images"))
    }
    assert [name for name, kind in formats.items() if kind == "PNG"] == ["Bengal_5.jpg"]
    changed = [(entry["id"], entry["detail"]) for entry in dataset_of(mini)["changed"]]
    assert changed == [("Bengal_5", "PNG inside")]
    assert [entry["id"] for entry in dataset_of(mini)["skipped"]] == ["pug_8"]


@pytest.mark.parametrize("image_id", ["Bengal_1", "pug_2", "Siamese_3"])
def test_a_image_is_drawn_the_same_each_time(mini, image_id):
    out = io.BytesIO()
    generate.draw(image_id).image.save(out, "JPEG", quality=90)
    assert (mini / "raw" / "images" / (image_id + ".jpg")).read_bytes() == out.getvalue()


def test_boxes_lie_in_the_images_and_are_large_enough_to_learn(mini):
    for name in os.listdir(str(mini / "raw" / "annotations" / "xmls")):
        annotation = annotations.read_xml(str(mini / "raw" / "annotations" / "xmls" / name))
        assert 1 <= len(annotation.objects) <= 2
        for item in annotation.objects:
            assert 0 <= item.box.xmin and item.box.xmax <= annotation.width
            assert 0 <= item.box.ymin and item.box.ymax <= annotation.height
            assert (
                0.2
                < max(
                    (item.box.xmax - item.box.xmin) / annotation.width,
                    (item.box.ymax - item.box.ymin) / annotation.height,
                )
                < 0.9
            ), name


def test_the_trimap_marks_the_pet_its_border_and_the_background(mini):
    trimap = Image.open(str(mini / "raw" / "annotations" / "trimaps" / "Siamese_9.png"))
    assert trimap.size == Image.open(str(mini / "raw" / "images" / "Siamese_9.jpg")).size
    assert {value for _, value in trimap.getcolors()} == {1, 2, 3}


def test_a_second_run_does_nothing(mini, capsys):
    before = (mini / "dataset.json").stat().st_mtime_ns
    assert generate.prepare(str(mini)) == dataset_of(mini)
    assert "already complete" in capsys.readouterr().out
    assert (mini / "dataset.json").stat().st_mtime_ns == before
