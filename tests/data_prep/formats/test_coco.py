"""COCO instances JSON: boxes, masks from every form, categories with gaps, and JSON that is wrong in every way."""

import copy
import io
import json
import os

import numpy
import pytest
from hypothesis import given, settings, strategies
from PIL import Image
from pycocotools import mask as coco_masks

from common.errors import DataError
from data_prep.__main__ import main
from data_prep.check import quick
from data_prep.formats import coco
from data_prep.tfrecord import codec
from data_prep.writer.dataset import Limits, label_map_text
from tests.data_prep.prepared import examples, prepare

WIDTH, HEIGHT = 40, 30
SIZE = {"width": WIDTH, "height": HEIGHT}
SQUARE = [[5, 6, 15, 6, 15, 26, 5, 26]]


def instances(count=6, **annotation):
    """A JSON of images `0.jpg`, ... with one box each, of categories 3 and 7 in turn."""
    item = dict({"bbox": [5, 6, 10, 20], "iscrowd": 0, "area": 200, "segmentation": SQUARE}, **annotation)
    return {
        "images": [dict(SIZE, id=number, file_name=f"{number}.jpg") for number in range(count)],
        "annotations": [
            dict(item, id=100 + number, image_id=number, category_id=(3, 7)[number % 2]) for number in range(count)
        ],
        "categories": [{"id": 7, "name": "dog"}, {"id": 3, "name": "cat"}],
    }


def write(root, content, name="instances.json", encode=None):
    """The JSON and its images below root."""
    os.makedirs(str(root / "images"), exist_ok=True)
    with open(str(root / name), "w") as out:
        json.dump(content, out)
    if encode:
        for image in content["images"]:
            with open(str(root / "images" / image["file_name"]), "wb") as out:
                out.write(encode(size=(WIDTH, HEIGHT)))


def convert(root, out, max_skipped=1.0, **options):
    options.setdefault("shards", 1)
    return prepare(coco, str(root), str(out), coco.Options(**options), limits=Limits(max_skipped))


def test_boxes_ids_and_categories(tmp_path, encode):
    content = instances()
    content["annotations"][0].update(bbox=[0.5, 1, 39.9, 28.5], iscrowd=1, area=11.5)
    write(tmp_path, content, encode=encode)
    dataset = convert(tmp_path, tmp_path / "out")
    assert quick.quick(str(tmp_path / "out")) == []
    assert (dataset["classes"], dataset["category_ids"]) == (["cat", "dog"], {"cat": 3, "dog": 7})
    first, second = (examples(tmp_path / "out")[key] for key in "01")
    assert [first["image/object/bbox/" + side][0] for side in ("xmin", "ymin", "xmax", "ymax")] == pytest.approx(
        [0.5 / 40, 1 / 30, 1.0, 29.5 / 30]
    )
    assert (first["image/object/is_crowd"], first["image/object/area"]) == ([1], [11.5])
    assert (second["image/object/class/text"], second["image/object/class/label"]) == ([b"dog"], [2])
    assert second["image/filename"] == [b"1.jpg"]
    assert [entry["what"] for entry in dataset["changed"]] == ["clipped box"]
    assert dataset["splits"]["train"]["pattern"] == "coco_train.record-?????-of-00001"
    assert "max_number_of_boxes" not in dataset["config"]


def test_more_than_a_hundred_boxes_are_told_to_the_config(tmp_path, encode):
    content = instances()
    content["annotations"] += [dict(content["annotations"][0], id=1000 + number) for number in range(119)]
    write(tmp_path, content, encode=encode)
    assert convert(tmp_path, tmp_path / "out")["config"]["max_number_of_boxes"] == 120


def test_train_and_val_files_are_a_split_and_share_no_id(tmp_path, encode):
    os.makedirs(str(tmp_path / "annotations"))
    train, val = instances(4), instances(6)
    val["images"], val["annotations"] = val["images"][4:], val["annotations"][4:]
    write(tmp_path, train, "annotations/instances_train2017.json", encode)
    write(tmp_path, val, "annotations/instances_val2017.json", encode)
    dataset = convert(tmp_path, tmp_path / "out")
    assert [dataset["splits"][split]["examples"] for split in ("train", "val")] == [4, 2]
    val = instances(6)
    val["images"], val["annotations"] = val["images"][3:], val["annotations"][3:]
    write(tmp_path, val, "annotations/instances_val2017.json")
    skipped = convert(tmp_path, tmp_path / "again")["skipped"]
    assert [entry["reason"].split(":")[0] for entry in skipped] == ["images/3.jpg is put into train and val"]
    with pytest.raises(DataError, match="no split of its own"):
        from data_prep.source.splits import Choice

        convert(
            tmp_path,
            tmp_path / "out",
            annotations=(str(tmp_path / "annotations/instances_val2017.json"),),
            split=Choice("upstream"),
        )


def square():
    expected = numpy.zeros((HEIGHT, WIDTH), bool)
    expected[6:26, 5:15] = True
    return expected


def forms():
    """The square in every form that COCO allows."""
    runs = coco_masks.encode(numpy.asfortranarray(square().astype(numpy.uint8)))
    column = square().T.ravel()
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[False], column, [False]]).astype(int)))
    counts = numpy.diff(numpy.concatenate([[0], edges, [column.size]])).tolist()
    return {
        "polygon": SQUARE,
        "two polygons": [[5, 6, 10, 6, 10, 26, 5, 26], [10, 6, 15, 6, 15, 26, 10, 26]],
        "run lengths": {"size": [HEIGHT, WIDTH], "counts": counts},
        "compressed": {"size": [HEIGHT, WIDTH], "counts": runs["counts"].decode("ascii")},
    }


@pytest.mark.parametrize("kind", ["png", "numerical"])
@pytest.mark.parametrize("form", sorted(forms()))
def test_masks(tmp_path, encode, form, kind):
    write(tmp_path, instances(4, segmentation=forms()[form]), encode=encode)
    dataset = convert(tmp_path, tmp_path / "out", masks=kind)
    value = examples(tmp_path / "out")["2"]["image/object/mask"]
    found = numpy.asarray(Image.open(io.BytesIO(value[0]))) if kind == "png" else numpy.array(value)
    assert numpy.array_equal(found.reshape(HEIGHT, WIDTH) > 0, square())
    assert (dataset["config"]["load_instance_masks"], dataset["config"]["mask_type"]) == (
        True,
        {"png": "PNG_MASKS", "numerical": "NUMERICAL_MASKS"}[kind],
    )


def test_a_mask_turns_with_its_image(tmp_path, encode):
    exif = Image.Exif()
    exif[0x0112] = 6
    write(tmp_path, instances(4), encode=encode)
    (tmp_path / "images" / "2.jpg").write_bytes(encode(size=(WIDTH, HEIGHT), exif=exif.tobytes()))
    convert(tmp_path, tmp_path / "out", masks="png")
    features = examples(tmp_path / "out")["2"]
    found = numpy.asarray(Image.open(io.BytesIO(features["image/object/mask"][0])))
    assert numpy.array_equal(found, numpy.rot90(square(), -1))
    assert features["image/object/bbox/xmin"] == pytest.approx([4 / 30])  # 30 - 26


@pytest.mark.parametrize(
    "segmentation, reason",
    [
        ([], "no mask"),
        (None, "no mask"),
        ([[1, 2, 3]], "polygon"),
        ([[1, 2, 3, 4, 5, "x"]], "polygon"),
        ([[0, 0, 1e9, 0, 1e9, 1e9]], "far outside"),
        ({"size": [HEIGHT, WIDTH], "counts": [5, 5]}, "do not add up"),
        ({"size": [HEIGHT, WIDTH], "counts": [WIDTH * HEIGHT + 100, 0]}, "do not add up"),
        ({"size": [3, 3], "counts": [9]}, "another size"),
        ({"size": [HEIGHT, WIDTH], "counts": "\u00ff\u00ff"}, "read"),
        ({"size": [HEIGHT, WIDTH], "counts": "ooooo"}, "read"),
        ("text", "another size"),
        (7, "another size"),
    ],
)
def test_a_broken_mask_costs_its_object_and_is_listed(tmp_path, encode, segmentation, reason):
    content = instances(4)
    content["annotations"][0]["segmentation"] = segmentation
    write(tmp_path, content, encode=encode)
    assert convert(tmp_path, tmp_path / "plain")["skipped"] == []
    dataset = convert(tmp_path, tmp_path / "out", masks="png")
    assert [entry["id"] for entry in dataset["skipped"]] == ["0"] and reason in dataset["skipped"][0]["reason"]


@pytest.mark.parametrize(
    "spoil, message",
    [
        (
            lambda content: content["images"].append({"id": 0.0, "file_name": "9.jpg"}),
            "the image id 0 to 0.jpg and 9.jpg",
        ),
        (lambda content: content["categories"][0].update(name="\ud83d"), "without id or name"),
        (lambda content: content["categories"].append({"id": 9, "name": "cat"}), "one name to two categories"),
        (lambda content: content["categories"].append({"id": 3, "name": "bird"}), "Category 3 is cat and bird"),
        (lambda content: content["categories"].append({"id": "x"}), "without id or name"),
        (lambda content: content.update(categories=[]), "names no category"),
        (lambda content: content.update(annotations=None), "no COCO instances file"),
        (lambda content: content.update(images=[3]), "no COCO instances file"),
        (lambda content: content.update(images=[], annotations=[]), "lists no image"),
    ],
)
def test_a_json_that_cannot_be_right_is_refused(tmp_path, encode, spoil, message):
    content = instances()
    spoil(content)
    write(tmp_path, content)
    with pytest.raises(DataError, match=message):
        convert(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    "spoil, where, why",
    [
        (lambda content: content["images"][1].pop("file_name"), "images[1]", "without id or file_name"),
        (lambda content: content["images"][1].update(id=None), "images[1]", "without id or file_name"),
        # Half of a character, which JSON can write and no file can hold.
        (lambda content: content["images"][1].update(id="\ud83d"), "images[1]", "without id or file_name"),
        (lambda content: content["images"][1].update(file_name="\ud83d.jpg"), "images[1]", "without id or file_name"),
        (lambda content: content["annotations"][1].update(image_id=99), "annotation 1", "of an image 99"),
        (lambda content: content["annotations"][1].update(category_id=4), "annotation 1", "of a category 4"),
    ],
)
def test_what_belongs_to_nothing_is_a_row_and_the_rest_is_converted(tmp_path, encode, spoil, where, why):
    content = instances()
    spoil(content)
    write(tmp_path, content)
    for image in range(6):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "images" / f"{image}.jpg").write_bytes(encode())
    dataset = convert(tmp_path, tmp_path / "out")
    assert where in dataset["problems"][0]["where"] and why in dataset["problems"][0]["why"]
    assert sum(split["examples"] for split in dataset["splits"].values()) >= 3


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"bbox": [5, 6, -1, 20]}, "empty or inverted"),
        ({"bbox": [5, 6, 0, 20]}, "empty or inverted"),
        ({"bbox": [5, 6, 60, 20]}, "outside"),
        ({"bbox": [1, 2, 3]}, "no box that can be read"),
        ({"bbox": [1, 2, 3, None]}, "no box that can be read"),
        ({"bbox": [1, 2, 3, 1e300]}, "no box that can be read"),
        ({"bbox": None}, "no box that can be read"),
    ],
)
def test_a_box_that_cannot_be_right_is_listed(tmp_path, encode, change, reason):
    content = instances()
    content["annotations"][2].update(change)
    write(tmp_path, content, encode=encode)
    dataset = convert(tmp_path, tmp_path / "out")
    assert [(entry["id"], reason in entry["reason"]) for entry in dataset["skipped"]] == [("2", True)]


def test_missing_images_and_images_without_entry_are_listed(tmp_path, encode, capsys):
    write(tmp_path, instances(), encode=encode)
    os.rename(str(tmp_path / "images" / "3.jpg"), str(tmp_path / "images" / "other.jpg"))
    dataset = convert(tmp_path, tmp_path / "out")
    assert dataset["skipped"] == [
        {"id": "3", "file": "3.jpg", "split": "train", "reason": "no image of this name", "forgiven": False}
    ]
    assert "3.jpg (3)" in capsys.readouterr().out
    assert dataset["unused"][0]["names"] == ["images/other.jpg"]


def test_a_label_map_that_lacks_a_category_in_use_stops_the_run(tmp_path, encode):
    write(tmp_path, instances(), encode=encode)
    (tmp_path / "map.pbtxt").write_text(label_map_text(["Cats", "dog"]))
    with pytest.raises(DataError, match=r"cat \(did you mean Cats\?\)"):
        convert(tmp_path, tmp_path / "out", label_map=str(tmp_path / "map.pbtxt"))


def nonsense(draw, value):
    """value with one part replaced by something else."""
    junk = draw(strategies.sampled_from([None, -1, 1e400, "", "x", [], {}, True, [[]], 10**20, float("nan")]))
    if isinstance(value, dict) and value and draw(strategies.booleans()):
        key = draw(strategies.sampled_from(sorted(value)))
        return dict(value, **{key: nonsense(draw, value[key])})
    if isinstance(value, list) and value and draw(strategies.booleans()):
        at = draw(strategies.integers(0, len(value) - 1))
        return value[:at] + [nonsense(draw, value[at])] + value[at + 1 :]
    return junk


@pytest.fixture(scope="module")
def images(tmp_path_factory, encode):
    root = tmp_path_factory.mktemp("coco")
    write(root, instances(), encode=encode)
    return root


@settings(deadline=None, max_examples=150)
@given(data=strategies.data())
def test_any_json_is_converted_or_refused_with_a_reason(images, data):
    content = nonsense(data.draw, copy.deepcopy(instances()))
    write(images, content)
    try:
        plan = coco.plan(str(images), "x", coco.Options(masks="png", shards=1))
    except DataError as error:
        assert error.what and error.do
        return
    for split in plan.splits:
        for image_id in split.ids:
            outcome = plan.convert(image_id)
            assert (outcome.features is None) == bool(outcome.skipped)
            if outcome.features:
                codec.encode(outcome.features)


def test_the_command_line(tmp_path, encode, capsys):
    write(tmp_path, instances(10), encode=encode)
    assert main(["coco", "--source", str(tmp_path), "--out", str(tmp_path / "out"), "--masks", "png"]) == 0
    assert "train: 7 images with 7 boxes in 1 shard" in capsys.readouterr().out
    assert main(["coco", "--source", str(tmp_path), "--out", "x", "--annotations", "/nowhere"]) == 3
    assert main(["coco", "--source", str(tmp_path), "--out", "x", "--annotations", "1", "2", "3"]) == 3
