"""Oxford-IIIT Pet to records: the split and features of the API's converter, and every wart named."""

import io
import json
import os

import pytest
from PIL import Image

from common.errors import DataError, UsageError
from common.project import PROJECT_DIR
from data_prep.check import quick
from data_prep.formats import pets
from data_prep.source import splits
from tests.data_prep.prepared import examples, prepare, skipped


def changes(dataset):
    return [(entry["id"], entry["what"]) for entry in dataset["changed"]]


def test_all_images_are_written_and_the_result_is_fit_for_training(raw, tmp_path):
    dataset = raw.convert(tmp_path / "out")
    assert (dataset["splits"]["train"]["examples"], dataset["splits"]["val"]["examples"]) == (14, 6)
    assert (dataset["num_classes"], dataset["classes"][25], dataset["skipped"]) == (37, "pug", [])
    assert len(examples(tmp_path / "out")) == 20
    assert quick.quick(str(tmp_path / "out")) == []
    assert json.loads((tmp_path / "out" / "dataset.json").read_text(encoding="utf-8")) == dataset


def test_an_example_holds_the_box_as_shares_of_the_sides_and_the_class_of_the_file_name(raw, tmp_path, encode):
    raw.convert(tmp_path / "out")
    features = examples(tmp_path / "out")["pug_1.jpg"]
    assert features["image/object/bbox/xmin"] == pytest.approx([5 / 40])
    assert features["image/object/bbox/ymax"] == pytest.approx([26 / 30])
    assert (features["image/object/class/label"], features["image/object/class/text"]) == ([26], [b"pug"])
    assert (features["image/object/truncated"], features["image/object/view"]) == ([1], [b"Left"])
    assert features["image/encoded"] == [encode()]


@pytest.mark.parametrize(
    "mode, kind, what", [("RGBA", "PNG", "PNG inside"), ("P", "GIF", "GIF inside"), ("L", "JPEG", "JPEG of mode L")]
)
def test_what_is_no_rgb_jpeg_is_written_anew_and_listed(raw, tmp_path, encode, mode, kind, what):
    raw.image("pug_1", encode(mode, kind=kind))
    dataset = raw.convert(tmp_path / "out")
    assert [(entry["id"], entry["detail"]) for entry in dataset["changed"]] == [("pug_1", what)]
    assert examples(tmp_path / "out")["pug_1.jpg"]["image/encoded"][0][:2] == b"\xff\xd8"


def test_the_decoded_size_beats_the_annotation(raw, tmp_path):
    raw.annotate("pug_1", (5, 6, 25, 26), size=(400, 300))
    dataset = raw.convert(tmp_path / "out")
    assert examples(tmp_path / "out")["pug_1.jpg"]["image/width"] == [40]
    assert examples(tmp_path / "out")["pug_1.jpg"]["image/object/bbox/xmin"] == pytest.approx([5 / 40])
    assert changes(dataset) == [("pug_1", "other size")]


@pytest.mark.parametrize(
    "claimed, box, expected",
    [
        ((40, 30), (0, 0, 10, 20), (10 / 30, 0, 1, 10 / 40)),  # drawn on the stored image: turns with it
        ((30, 40), (0, 0, 10, 20), (0, 0, 10 / 30, 20 / 40)),  # drawn on the upright image: stays
    ],
)
def test_boxes_follow_a_image_that_is_turned_upright(raw, tmp_path, encode, claimed, box, expected):
    exif = Image.Exif()
    exif[0x0112] = 6
    raw.image("pug_1", encode(exif=exif.tobytes()))
    raw.annotate("pug_1", box, size=claimed)
    raw.convert(tmp_path / "out")
    features = examples(tmp_path / "out")["pug_1.jpg"]
    sides = [features["image/object/bbox/" + side][0] for side in ("xmin", "ymin", "xmax", "ymax")]
    assert sides == pytest.approx(expected)


def test_a_box_one_pixel_over_is_clipped_and_listed(raw, tmp_path):
    raw.annotate("pug_1", (5, 6, 41, 31))
    assert changes(raw.convert(tmp_path / "out")) == [("pug_1", "clipped box")]
    assert examples(tmp_path / "out")["pug_1.jpg"]["image/object/bbox/xmax"] == [1.0]


def test_a_box_outside_is_rejected_and_the_image_keeps_its_other_box(raw, tmp_path):
    raw.annotate("pug_1", (5, 6, 25, 26), (5, 6, 250, 260))
    assert changes(raw.convert(tmp_path / "out")) == [("pug_1", "rejected box")]
    assert len(examples(tmp_path / "out")["pug_1.jpg"]["image/object/class/label"]) == 1


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda raw: raw.annotate("pug_1", (5, 6, 250, 26)), "210 px outside the 40x30 image"),
        (lambda raw: raw.annotate("pug_1", (5, 6, "nan", 26)), "not finite"),
        (lambda raw: raw.annotate("pug_1", (5, 6, "wide", 26)), "no box that can be read"),
        (lambda raw: raw.xml("pug_1", "<annotation><object></object></annotation>"), "no box that can be read"),
        (lambda raw: raw.xml("pug_1", "<annotation><obj"), "xml cannot be read"),
        (lambda raw: raw.xml("pug_1", "<html/>"), "holds <html> instead of <annotation>"),
        (lambda raw: raw.image("pug_1", b"<html>"), "cannot be decoded"),
        (lambda raw: raw.image("pug_1", b""), "empty"),
        (lambda raw: raw.remove("images/pug_1.jpg"), "no image of this name"),
        (lambda raw: raw.remove("annotations/xmls/pug_1.xml"), "no xml"),
    ],
)
def test_an_unusable_image_is_skipped_with_its_reason(raw, tmp_path, capsys, spoil, reason):
    spoil(raw)
    dataset = raw.convert(tmp_path / "out")
    assert list(skipped(dataset)) == ["pug_1"] and reason in skipped(dataset)["pug_1"]
    assert len(examples(tmp_path / "out")) == 19
    assert "pug_1" in capsys.readouterr().out


def test_numbers_that_fit_no_record_do_not_end_the_run(raw, tmp_path):
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    raw.xml(
        "pug_1",
        f"<annotation><object>{box}<difficult>1e300</difficult><truncated>-inf</truncated></object></annotation>",
    )
    raw.convert(tmp_path / "out")
    assert examples(tmp_path / "out")["pug_1.jpg"]["image/object/difficult"] == [0]


def test_a_list_that_is_no_text_is_refused(raw, tmp_path):
    with open(pets.Layout(raw.root).trainval, "wb") as file:
        file.write(b"\xff\xfe")
    with pytest.raises(DataError, match="is not a text file"):
        raw.convert(tmp_path / "out")


def test_a_class_that_the_label_map_does_not_have_is_named(raw, tmp_path):
    raw.list(raw.ids + ["dragon_1"])
    with pytest.raises(DataError, match="label map does not have: dragon"):
        raw.convert(tmp_path / "out")


def test_a_image_listed_twice_is_refused(raw, tmp_path):
    raw.list(raw.ids + ["pug_4"])
    with pytest.raises(DataError, match="lists pug_4 more than once"):
        raw.convert(tmp_path / "out")


def test_a_folder_in_another_layout_is_refused_with_what_is_missing(tmp_path):
    with pytest.raises(DataError, match="trainval.txt is missing|images is missing"):
        prepare(pets, str(tmp_path), str(tmp_path / "out"))


def test_other_files_among_the_images_are_ignored_and_the_jpg_wins(raw, tmp_path, encode):
    raw.image("pug_1", b"matlab", ".mat")
    raw.image("._pug_1", b"mac")
    raw.image("pug_1", encode(size=(50, 50), kind="PNG"), ".png")
    raw.convert(tmp_path / "out")
    assert examples(tmp_path / "out")["pug_1.jpg"]["image/width"] == [40]


def annotate_bodies(raw):
    for image_id in raw.ids:
        raw.trimap(image_id, {(5, 6, 25, 26): 3, (7, 8, 23, 24): 1})


def test_body_boxes_end_behind_the_last_pixel_that_is_not_background(raw, tmp_path):
    annotate_bodies(raw)
    dataset = raw.convert(tmp_path / "out", boxes="body")
    features = examples(tmp_path / "out")["pug_1.jpg"]
    sides = [features["image/object/bbox/" + side][0] for side in ("xmin", "ymin", "xmax", "ymax")]
    assert sides == pytest.approx([5 / 40, 6 / 30, 25 / 40, 26 / 30])
    assert "image/object/mask" not in features and not dataset["config"]["load_instance_masks"]
    assert dataset["splits"]["val"]["pattern"] == "pets_fullbody_val.record-?????-of-00002"


def test_masks_come_with_their_config_fields_and_names(raw, tmp_path):
    annotate_bodies(raw)
    dataset = raw.convert(tmp_path / "out", boxes="body", masks="png")
    assert dataset["config"] == {
        "num_classes": 37,
        "label_map_path": "label_map.pbtxt",
        "load_instance_masks": True,
        "mask_type": "PNG_MASKS",
        "train_input_path": "pets_fullbody_with_masks_train.record-?????-of-00002",
        "eval_input_path": "pets_fullbody_with_masks_val.record-?????-of-00002",
    }
    png = Image.open(io.BytesIO(examples(tmp_path / "out")["pug_1.jpg"]["image/object/mask"][0]))
    assert (png.mode, png.getbbox()) == ("1", (5, 6, 25, 26))


def test_a_trimap_turns_with_its_image(raw, tmp_path, encode):
    exif = Image.Exif()
    exif[0x0112] = 8
    annotate_bodies(raw)
    raw.image("pug_1", encode(exif=exif.tobytes()))
    raw.convert(tmp_path / "out", boxes="body", masks="png")
    features = examples(tmp_path / "out")["pug_1.jpg"]
    assert Image.open(io.BytesIO(features["image/object/mask"][0])).getbbox() == (6, 15, 26, 35)
    assert features["image/object/bbox/ymax"] == pytest.approx([35 / 40])


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda raw: raw.remove("annotations/trimaps/pug_1.png"), "no trimap"),
        (lambda raw: raw.trimap("pug_1", {}), "marks no pet"),
        (lambda raw: raw.trimap("pug_1", {(1, 1, 5, 5): 1}, size=(41, 30)), "the mask is 41x30, the image 40x30"),
        (lambda raw: raw.trimap("pug_1", {}, mode="RGB"), "mode RGB"),
    ],
)
def test_a_trimap_that_cannot_be_used_is_listed(raw, tmp_path, spoil, reason):
    annotate_bodies(raw)
    spoil(raw)
    found = skipped(raw.convert(tmp_path / "out", boxes="body", masks="png"))
    assert list(found) == ["pug_1"] and reason in found["pug_1"]


def test_a_palette_trimap_counts_by_its_numbers(raw, tmp_path):
    annotate_bodies(raw)
    raw.trimap("pug_1", {(5, 6, 25, 26): 1}, mode="P")
    assert raw.convert(tmp_path / "out", boxes="body")["skipped"] == []


def test_two_pets_share_a_trimap_and_so_a_box(raw, tmp_path):
    annotate_bodies(raw)
    raw.annotate("pug_1", (5, 6, 25, 26), (1, 1, 9, 9))
    assert (
        changes(raw.convert(tmp_path / "faces"))
        == changes(raw.convert(tmp_path / "out", boxes="body"))
        == [("pug_1", "several pets")]
    )
    counts = [len(examples(tmp_path / name)["pug_1.jpg"]["image/object/class/label"]) for name in ("faces", "out")]
    assert counts == [2, 1]


def test_masks_of_faces_are_refused(raw, tmp_path):
    with pytest.raises(UsageError, match="needs --boxes body"):
        raw.convert(tmp_path / "out", masks="png")


def test_another_split_is_by_its_seed(raw, tmp_path):
    dataset = raw.convert(tmp_path / "out", split=splits.Choice(val_fraction=0.5, seed=3))
    assert dataset["splits"]["val"]["listed"] == 10
    assert sorted(examples(tmp_path / "out", "val")) == sorted(
        name + ".jpg" for name in splits.by_seed(raw.ids, 0.5, 3)[1].ids
    )
    assert dataset["command"].endswith(
        "--boxes faces --masks none --shards 2 --split random --val-fraction 0.5 --seed 3"
    )


def test_the_two_damaged_images_of_the_dataset_are_written_anew(raw, tmp_path, encode):
    for image_id in ("beagle_116", "chihuahua_121"):
        raw.image(image_id, encode())
        raw.annotate(image_id, (5, 6, 25, 26))
    raw.list(raw.ids + ["beagle_116", "chihuahua_121"])
    assert sorted(changes(raw.convert(tmp_path / "out"))) == [
        ("beagle_116", "reencoded"),
        ("chihuahua_121", "reencoded"),
    ]


def test_boxes_turn_where_the_annotation_does_not_say_on_which_image_they_were_drawn(raw, tmp_path, encode):
    exif = Image.Exif()
    exif[0x0112] = 6
    raw.image("pug_1", encode(exif=exif.tobytes()))
    raw.annotate("pug_1", (0, 0, 10, 20), size=(0, 0))
    raw.convert(tmp_path / "out")
    features = examples(tmp_path / "out")["pug_1.jpg"]
    assert features["image/object/bbox/xmin"] == pytest.approx([10 / 30])
    assert features["image/object/bbox/ymax"] == pytest.approx([10 / 40])


SAMPLE = os.path.join(PROJECT_DIR, "..", "shared", "data", "pets-sample")


@pytest.mark.skipif(not os.path.isdir(SAMPLE), reason=f"there is no folder of real pets at {SAMPLE}")
@pytest.mark.parametrize("boxes", ["faces", "body"])
def test_each_oddity_of_real_pets_is_explained(tmp_path, capsys, boxes):
    """The list of oddities is that of the folder's README, and the default limits let it pass."""
    dataset = prepare(pets, SAMPLE, str(tmp_path / "out"), pets.Options(boxes))
    message = capsys.readouterr().out
    unused = {name: entry["reason"] for entry in dataset["unused"] for name in entry["names"]}
    assert skipped(dataset) == dict.fromkeys(("Abyssinian_104", "Bengal_111", "Bengal_175"), pets.NO_XML)
    assert changes(dataset) == [("Bengal_105", "several pets")]
    assert "test.txt" in unused["Abyssinian_5.jpg"] and "PNG inside" in unused["Abyssinian_5.jpg"]
    assert unused["Abyssinian_34.jpg"] == "in no list; GIF inside"
    assert unused["Abyssinian_100.mat"] == "not an image"
    # Every file among the images is written, skipped or not used.
    counted = sum(split["listed"] for split in dataset["splits"].values()) + sum(
        entry["count"] for entry in dataset["unused"]
    )
    assert counted == len(os.listdir(os.path.join(SAMPLE, "images")))
    written = sum(split["examples"] for split in dataset["splits"].values())
    assert written == 110 == len(os.listdir(os.path.join(SAMPLE, "annotations", "xmls")))
    for name in ("Abyssinian_104", "Bengal_105", "Abyssinian_5.jpg", "Abyssinian_34.jpg", "Abyssinian_100.mat"):
        assert name in message
    assert quick.quick(str(tmp_path / "out")) == []
