"""Inputs of people, rebuilt small: what lies in each folder is converted to what was meant, or refused by name."""

import os
import shutil

import pytest

from common.errors import DataError, UsageError
from common.project import PROJECT_DIR
from data_prep.check import quick
from data_prep.formats import coco, voc
from data_prep.writer.dataset import Limits
from tests.data_prep.prepared import examples, prepare, skipped

CASES = os.path.join(os.path.dirname(PROJECT_DIR), "shared", "cases")
pytestmark = pytest.mark.skipif(not os.path.isdir(CASES), reason="the inputs lie beside the repository")


@pytest.fixture
def convert(tmp_path):
    """function(module, name of a case, ...) -> dataset.json of its conversion into tmp_path / "out"."""

    def converted(module, case, source="", **options):
        folder = os.path.join(CASES, case, source)
        options.setdefault("shards", 1)
        limits = Limits(options.pop("max_skipped", 1.0))
        return prepare(module, folder, tmp_path / "out", module.Options(**options), limits=limits)

    return converted


def boxes(out, split="*"):
    """{source id: [(class, xmin, ymin, xmax, ymax in pixels)]} of a prepared dataset."""
    found = {}
    for image, features in examples(out, split).items():
        width, height = features["image/width"][0], features["image/height"][0]
        scales = {"xmin": width, "ymin": height, "xmax": width, "ymax": height}
        sides = [[value * scale for value in features["image/object/bbox/" + side]] for side, scale in scales.items()]
        names = [name.decode() for name in features["image/object/class/text"]]
        found[image] = [(name,) + tuple(round(value, 3) for value in box) for name, *box in zip(names, *sides)]
    return found


def test_01_records_of_others_stay(tmp_path):
    shutil.copytree(os.path.join(CASES, "01-own-records-deleted"), str(tmp_path / "case"))
    out = tmp_path / "case" / "out"
    before = {name: (out / name).read_bytes() for name in os.listdir(str(out))}
    with pytest.raises(UsageError, match="cars_train.record-00000-of-00002"):
        prepare(voc, tmp_path / "case" / "src", out, voc.Options(shards=1))
    assert {name: (out / name).read_bytes() for name in os.listdir(str(out))} == before


def test_02_a_jpg_and_a_png_are_two_images(convert, tmp_path):
    assert convert(coco, "02-coco-a.jpg-a.png")["skipped"] == []
    found = examples(tmp_path / "out")
    assert found["1"]["image/encoded"] != found["2"]["image/encoded"]
    assert (boxes(tmp_path / "out")["1"][0][1:], boxes(tmp_path / "out")["2"][0][1:]) == (
        (10, 10, 40, 30),
        (40, 20, 60, 40),
    )


def test_04_jobs_that_overlap_give_one_record_where_they_agree_and_a_row_where_not(convert, tmp_path):
    dataset = convert(voc, "04-cvat-overlapping-jobs")
    assert boxes(tmp_path / "out")["images/f2.jpg"] == [("fox", 7, 20, 50, 30)]
    assert "images/f3.jpg" not in examples(tmp_path / "out")
    (reason,) = skipped(dataset).values()
    assert "images/f3.jpg is annotated 2 times and differently: in images/f3.xml, job2.xml, f3.jpg" == reason


def test_06_files_that_each_number_from_1_are_two_splits(convert, tmp_path):
    dataset = convert(coco, "06-coco-same-ids")
    assert [dataset["splits"][split]["examples"] for split in ("train", "val")] == [3, 3]
    assert len(examples(tmp_path / "out")) == 6


def test_07_roboflows_folders_are_the_splits(convert, tmp_path):
    dataset = convert(coco, "07-roboflow-coco")
    assert {name: split["examples"] for name, split in dataset["splits"].items()} == {"train": 4, "val": 2, "test": 2}


def test_08_the_frame_of_neighbours_decides_what_an_exif_orientation_of_3_means(convert, tmp_path):
    convert(voc, "08-exif3-turned")
    assert boxes(tmp_path / "out")["p3.jpg"] == [("fox", 5, 10, 25, 30)]


def test_09_boxes_of_another_size_are_scaled_with_a_row(convert, tmp_path):
    dataset = convert(voc, "09-pictures-resized")
    assert set(map(tuple, boxes(tmp_path / "out").values())) == {(("fox", 80, 60, 160, 120),)}
    assert {entry["what"] for entry in dataset["changed"]} == {"other size"}


def test_11_an_image_of_another_folder_is_never_taken(convert, tmp_path, capsys):
    with pytest.raises(DataError, match="No usable image is left for coco_val"):
        convert(coco, "11-coco-wrong-folder")
    table = " ".join(capsys.readouterr().out.split())
    assert "val/000.jpg (10)" in table and "no image of this name" in table
    assert not os.path.exists(str(tmp_path / "out" / "dataset.json"))


def test_12_folders_in_names_lead_to_the_file_that_ends_so(convert):
    assert convert(coco, "12-subfolders")["skipped"] == []


def test_16_folders_called_as_splits_are_the_split(convert, tmp_path, capsys):
    dataset = convert(voc, "16-roboflow-voc-split")
    assert {name: split["examples"] for name, split in dataset["splits"].items()} == {"train": 6, "val": 2, "test": 2}
    assert quick.quick(str(tmp_path / "out")) == []
    assert all(name.startswith("test/") for name in examples(tmp_path / "out", "test"))
    assert capsys.readouterr().out.startswith("Split: the source's own, train 6 images, val 2 images, test 2 images.")


def test_18_an_empty_name_is_a_row(convert, tmp_path):
    shutil.copytree(os.path.join(CASES, "18-empty-name"), str(tmp_path / "case"))
    text = (tmp_path / "case" / "q.xml").read_text()
    (tmp_path / "case" / "q.xml").write_text(text.replace("<name>foxx</name>", "<name></name>"))
    dataset = prepare(voc, tmp_path / "case", tmp_path / "out", voc.Options(shards=1), limits=Limits(1.0))
    assert skipped(dataset) == {"q.jpg": "an object has no class name"}


def test_19_cvats_video_gives_a_record_a_frame(convert, tmp_path):
    convert(voc, "19-cvat-video")
    found = boxes(tmp_path / "out")
    assert [len(found[f"images/frame_00000{number}.jpg"]) for number in range(4)] == [1, 1, 1, 0]


def test_21_an_annotation_of_an_image_that_is_not_listed_is_a_row(convert):
    dataset = convert(coco, "21-stray-annotation")
    assert [problem["where"] for problem in dataset["problems"]] == ["a.json, annotation 99"]


def test_23_a_split_without_boxes_is_warned_of(convert, capsys):
    convert(coco, "23-val-without-boxes")
    assert "no image of val has a box" in capsys.readouterr().out


def test_24_tiny_jpegs_decode(convert):
    assert convert(voc, "24-tiny-jpeg")["skipped"] == []


def test_25_what_pillow_reads_is_read_and_what_it_does_not_is_called_by_its_name(convert, tmp_path):
    reasons = skipped(convert(voc, "25-heic-jp2-ppm"))
    assert {"jp2.jp2", "ppm.ppm", "pcx.pcx", "tga.tga"} <= set(examples(tmp_path / "out"))
    assert "HEIC, which is not read: convert it to JPEG or PNG" in reasons["heic.heic"]


def test_26_an_object_with_two_boxes_is_a_row(convert):
    reasons = skipped(convert(voc, "26-second-bndbox"))
    assert reasons == {"b.jpg": "an object has 2 boxes (<bndbox>) and one name"}


def test_28_ids_as_text_and_floats_are_the_same(convert, tmp_path):
    convert(coco, "28-float-text-ids")
    assert {box[0] for found in boxes(tmp_path / "out").values() for box in found} == {"fox"}
