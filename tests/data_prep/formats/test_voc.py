"""Pascal VOC folders, labelImg's and CVAT's xml: which image belongs to which annotation, classes, splits."""

import os
import unicodedata

import pytest

from common.errors import DataError, UsageError
from data_prep.__main__ import main
from data_prep.check import quick
from data_prep.formats import voc
from data_prep.source import prepare as base
from data_prep.source import splits
from data_prep.source.image_index import visible_files
from data_prep.writer.dataset import Limits, label_map_text
from tests.data_prep.prepared import examples, prepare, skipped


class Folder:
    """A folder of images, 40x30 unless told otherwise, and annotations that a test writes."""

    def __init__(self, root, encode):
        self.root, self._encode = root, encode

    def image(self, name, data=None, **options):
        self._write(name, self._encode(**options) if data is None else data)

    def xml(self, name, *objects, filename="", size=(40, 30)):
        """objects: (class name, xmin, ymin, xmax, ymax)."""
        text = "".join(
            f"<object><name>{name}</name><bndbox><xmin>{xmin}</xmin><ymin>{ymin}</ymin><xmax>{xmax}</xmax>"
            f"<ymax>{ymax}</ymax></bndbox></object>"
            for name, xmin, ymin, xmax, ymax in objects
        )
        self._write(
            name,
            (
                f"<annotation><filename>{filename}</filename><size><width>{size[0]}</width><height>{size[1]}</height>"
                f"</size>{text}</annotation>"
            ).encode("utf-8"),
        )

    def pairs(self, *stems):
        for stem in stems:
            self.image(stem + ".jpg")
            self.xml(stem + ".xml", ("cat", 1, 2, 30, 28))

    def text(self, name, text):
        self._write(name, text.encode("utf-8"))

    def _write(self, name, data):
        path = os.path.join(str(self.root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(data)

    def convert(self, out, max_skipped=1.0, strict=False, workers=None, **options):
        options.setdefault("shards", 1)
        return prepare(
            voc, str(self.root), str(out), voc.Options(**options), workers=workers, limits=Limits(max_skipped, strict)
        )


@pytest.fixture
def folder(tmp_path, encode):
    return Folder(tmp_path / "source", encode)


def unused(dataset):
    return {entry["reason"]: entry["names"] for entry in dataset["unused"]}


def test_a_voc_folder_is_split_as_its_image_sets_say(folder, tmp_path):
    folder.pairs("a")
    for number in range(1, 7):
        folder.image(f"JPEGImages/{number} x.jpg")
        folder.xml(f"Annotations/{number} x.xml", ("dog", 1, 1, 20, 20), ("cat", 3, 3, 30, 30))
    folder.text("ImageSets/Main/train.txt", "\ufeff4 x\n1 x  1\n2 x -1\n")
    folder.text("ImageSets/Main/val.txt", "3 x\r\n5 x\r\n")
    dataset = folder.convert(tmp_path / "out")
    assert [dataset["splits"][split]["examples"] for split in ("train", "val")] == [3, 2]
    assert list(examples(tmp_path / "out"))[:3] == ["4 x.jpg", "1 x.jpg", "2 x.jpg"]
    assert dataset["classes"] == ["cat", "dog"]
    assert dataset["splits"]["val"]["boxes_per_class"] == {"cat": 2, "dog": 2}
    assert unused(dataset) == {"in none of the splits": ["6 x.jpg"]}
    assert quick.quick(str(tmp_path / "out")) == []
    assert dataset["splits"]["train"]["pattern"] == "pascal_train.record-?????-of-00001"
    features = examples(tmp_path / "out")["5 x.jpg"]
    assert features["image/object/class/text"] == [b"dog", b"cat"]
    assert features["image/object/class/label"] == [2, 1]


def test_images_and_xml_may_lie_anywhere_and_are_split_by_seed(folder, tmp_path, encode):
    folder.pairs("one", "sub folder/two", "sub folder/one", "häuser/三")
    folder.image("apart/images/four.png", kind="PNG")
    folder.xml("apart/labels/four.xml", ("cat", 1, 1, 9, 9))
    dataset = folder.convert(tmp_path / "out", split=splits.Choice(val_fraction=0.4, seed=1))
    ids = sorted(["one.jpg", "sub folder/two.jpg", "sub folder/one.jpg", "häuser/三.jpg", "apart/images/four.png"])
    expected = splits.by_seed(ids, 0.4, 1)
    assert sorted(examples(tmp_path / "out")) == ids
    assert list(examples(tmp_path / "out")) == expected[0].ids + expected[1].ids
    assert dataset["command"].endswith("--shards 1 --split random --val-fraction 0.4 --seed 1")


@pytest.mark.parametrize(
    "image, xml, filename",
    [
        ("a.JPG", "a.xml", ""),
        ("a.jpeg", "a.xml", "other.jpg"),
        ("a", "a.xml", ""),
        ("a.dat", "a.xml", ""),
        ("b.jpg", "a.xml", "b.jpg"),
        ("b.jpg", "a.xml", "C:\\somewhere/b.png"),
        (unicodedata.normalize("NFD", "é.jpg"), unicodedata.normalize("NFC", "é.xml"), ""),
    ],
)
def test_a_image_is_found_by_stem_and_content(folder, tmp_path, image, xml, filename):
    folder.pairs("x", "y")
    folder.image(image)
    folder.xml(xml, ("cat", 1, 1, 9, 9), filename=filename)
    assert folder.convert(tmp_path / "out")["skipped"] == []
    assert image in examples(tmp_path / "out")


def test_of_files_with_one_stem_the_one_that_holds_a_image_wins(folder, tmp_path):
    folder.pairs("x", "y")
    folder.image("a.jpg", data=b"<html>")
    folder.image("a.png", kind="PNG")
    folder.image("a.csv")
    folder.xml("a.xml", ("cat", 1, 1, 9, 9))
    folder.convert(tmp_path / "out")
    assert "a.png" in examples(tmp_path / "out")


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda folder: folder.xml("a.xml", ("cat", 1, 1, 9, 9)), "no image of this name"),
        (
            lambda folder: folder.xml("a.xml", ("cat", 1, 1, 9, 9), filename="b.jpg"),
            "nor of the name that the annotation gives",
        ),
        (lambda folder: folder.text("a.xml", "<annotation>"), "xml cannot be read"),
        (lambda folder: folder.xml("a.xml", ("cat", 1, 1, 9, 9), filename="x.jpg"), "x.jpg is another's"),
        (
            lambda folder: (folder.image("1/a.jpg"), folder.image("2/a.jpg"), folder.xml("a.xml", ("cat", 1, 1, 9, 9))),
            "several images of this name: 1/a.jpg, 2/a.jpg",
        ),
        (lambda folder: (folder.image("a.jpg"), folder.xml("a.xml", ("cat", 9, 9, 1, 1))), "empty or inverted"),
    ],
)
def test_what_cannot_be_converted_is_listed(folder, tmp_path, spoil, reason):
    folder.pairs("x", "y", "z")
    spoil(folder)
    found = skipped(folder.convert(tmp_path / "out"))
    assert len(found) == 1 and reason in list(found.values())[0]
    assert len(examples(tmp_path / "out")) == 3
    with pytest.raises(DataError, match="more than the limit of 20 %"):
        folder.convert(tmp_path / "out", max_skipped=0.2)
    with pytest.raises(DataError, match="--strict allows none"):
        folder.convert(tmp_path / "out", strict=True)


def test_links_to_folders_are_followed_once(tmp_path):
    """Images often lie on another disk; a link may also lead in a circle, or to what is there anyway."""
    for name in ("source/own", "elsewhere/deep"):
        os.makedirs(str(tmp_path / name))
    for name in ("source/own/a.jpg", "elsewhere/b.jpg", "elsewhere/deep/c.jpg"):
        (tmp_path / name).write_bytes(b"x")
    for link, target in (("source/linked", "../elsewhere"), ("source/again", "own"), ("source/own/circle", "..")):
        os.symlink(target, str(tmp_path / link))
    assert visible_files(str(tmp_path / "source")) == ["linked/b.jpg", "linked/deep/c.jpg", "own/a.jpg"]


def test_a_mask_with_the_stem_of_its_image_is_not_taken_for_it(folder, tmp_path):
    for stem in ("x", "y"):
        folder.image(f"images/{stem}.jpg")
        folder.image(f"trimaps/{stem}.png", kind="PNG")
        folder.xml(f"xmls/{stem}.xml", ("cat", 1, 1, 9, 9), filename=stem + ".jpg")
    folder.convert(tmp_path / "out")
    assert sorted(examples(tmp_path / "out")) == ["images/x.jpg", "images/y.jpg"]


def test_what_is_no_part_of_it_is_told(folder, tmp_path, capsys):
    folder.pairs("x", "y", ".hidden", "._x")
    folder.image("lonely.jpg")
    folder.text("pom.xml", "<project/>")
    dataset = folder.convert(tmp_path / "out")
    assert unused(dataset) == {"no annotation": ["lonely.jpg"], "no annotation of this format": ["pom.xml"]}
    assert sorted(examples(tmp_path / "out")) == ["x.jpg", "y.jpg"]
    assert "lonely.jpg" in capsys.readouterr().out


def test_a_image_without_objects_is_an_example_without_boxes(folder, tmp_path):
    folder.pairs("x", "y")
    folder.image("empty.jpg")
    folder.xml("empty.xml")
    folder.convert(tmp_path / "out")
    features = examples(tmp_path / "out")["empty.jpg"]
    assert features["image/object/class/label"] == features["image/object/bbox/xmin"] == []


def test_a_label_map_gives_the_ids_and_other_names_stop_the_run_with_the_nearest(folder, tmp_path):
    folder.pairs("x", "y")
    (tmp_path / "map.pbtxt").write_text(label_map_text(["dog", "cat"]))
    dataset = folder.convert(tmp_path / "out", label_map=str(tmp_path / "map.pbtxt"))
    assert examples(tmp_path / "out")["x.jpg"]["image/object/class/label"] == [2]
    assert dataset["num_classes"] == 2
    folder.xml("x.xml", ("Cta", 1, 1, 9, 9), ("zebra", 1, 1, 9, 9))
    with pytest.raises(DataError, match=r"does not have: Cta \(did you mean cat\?\), zebra\."):
        folder.convert(tmp_path / "out", label_map=str(tmp_path / "map.pbtxt"))


def test_a_class_that_appears_while_others_are_converted_stops_the_run(folder, tmp_path):
    folder.pairs("x", "y")
    plan = voc.plan(str(folder.root), "mine", voc.Options(shards=1))
    folder.xml("x.xml", ("bird", 1, 1, 9, 9))
    with pytest.raises(DataError, match="The class bird appeared"):
        base.prepare(lambda: plan, str(tmp_path / "out"))
    assert os.listdir(str(tmp_path / "out")) == []


@pytest.mark.parametrize(
    "text, message",
    [
        ('item { id: 0 name: "cat" }', "id 0"),
        ('item { id: 2 name: "cat" }', "not 1 to 1 without a gap"),
        ("nonsense", "no label map"),
    ],
)
def test_a_label_map_that_cannot_be_trained_with_is_refused(folder, tmp_path, text, message):
    folder.pairs("x", "y")
    (tmp_path / "map.pbtxt").write_text(text)
    with pytest.raises(UsageError, match=message):
        folder.convert(tmp_path / "out", label_map=str(tmp_path / "map.pbtxt"))


def test_names_may_hold_anything(folder, tmp_path):
    folder.image("x.jpg")
    folder.image("y.jpg")
    for stem in ("x", "y"):
        folder.xml(stem + ".xml", ('a "quoted\\ name', 1, 1, 9, 9), ("Käse &amp; Wein", 1, 1, 9, 9))
    dataset = folder.convert(tmp_path / "out")
    assert dataset["classes"] == ["Käse & Wein", 'a "quoted\\ name']
    assert quick.quick(str(tmp_path / "out")) == []


def test_cvats_own_format_is_recognised(folder, tmp_path):
    folder.image("images/first one.jpg")
    folder.image("images/second.jpg")
    folder.text(
        "annotations.xml",
        """<annotations><version>1.1</version>
        <image id="0" name="first one.jpg" width="40" height="30">
          <box label="cat" occluded="1" xtl="1.5" ytl="2" xbr="20" ybr="21.25"/><tag label="indoor"/></image>
        <image id="1" name="images/second.jpg" width="40" height="30">
          <box label="dog" occluded="0" xtl="3" ytl="3" xbr="9" ybr="9"/>
          <polygon label="cat" points="1,1;5,5;1,5"/></image></annotations>""",
    )
    dataset = folder.convert(tmp_path / "out")
    features = examples(tmp_path / "out")["images/first one.jpg"]
    assert features["image/object/bbox/ymax"] == pytest.approx([21.25 / 30])
    assert [entry["what"] for entry in dataset["changed"]] == ["rejected box"]  # the polygon, told of


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda folder: folder.text("readme.txt", ""), "no annotation"),
        (lambda folder: folder.pairs("VOC2007/Annotations/x"), "VOC2007 in it has"),
        (lambda folder: folder.pairs("x"), "one of the two splits empty"),
        (
            lambda folder: (
                folder.pairs("x", "y"),
                folder.text("ImageSets/Main/train.txt", "x\ny\n"),
                folder.text("ImageSets/Main/val.txt", "y\n"),
            ),
            "lists y more than once",
        ),
    ],
)
def test_a_folder_that_cannot_be_right_is_refused(folder, tmp_path, spoil, message):
    spoil(folder)
    with pytest.raises(DataError, match=message):
        folder.convert(tmp_path / "out")


def test_the_bytes_depend_on_neither_workers_nor_the_order_of_files(folder, tmp_path, monkeypatch):
    folder.pairs(*[f"{number}" for number in range(12)])
    one = folder.convert(tmp_path / "one", workers=1, shards=2)
    walk = os.walk
    monkeypatch.setattr(
        os, "walk", lambda *args: [(root, dirs[::-1], names[::-1]) for root, dirs, names in walk(*args)]
    )
    many = folder.convert(tmp_path / "many", workers=3, shards=2)
    assert dict(one, name="") == dict(many, name="")


def test_a_dataset_below_its_own_source_is_no_part_of_it(folder, tmp_path, capsys):
    folder.pairs("x", "y")
    first = folder.convert(folder.root / "out")
    assert folder.convert(folder.root / "out") == first
    assert "already complete" in capsys.readouterr().out


def test_the_command_line(folder, tmp_path, capsys):
    folder.pairs(*[f"{number}" for number in range(10)])
    assert main(["voc", "--source", str(folder.root), "--out", str(tmp_path / "out")]) == 0
    assert "train: 7 images with 7 boxes in 1 shard; val: 3 images" in capsys.readouterr().out
    assert main(["voc", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--split", "upstream"]) == 3
    assert (
        main(
            ["voc", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--split", "upstream", "--seed", "3"]
        )
        == 2
    )
    assert main(["voc", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--shards", "0"]) == 2


def test_a_line_of_an_image_set_without_an_annotation_is_one_row(folder, tmp_path):
    folder.pairs("x", "y")
    folder.text("ImageSets/Main/train.txt", "x\nz\n")
    folder.text("ImageSets/Main/val.txt", "y\n")
    dataset = folder.convert(tmp_path / "out")
    assert dataset["problems"] == [
        {"where": "ImageSets/Main/train.txt, line 2", "why": "lists z, without an annotation"}
    ]
    with pytest.raises(DataError, match="1 of 2 images"):
        folder.convert(tmp_path / "again", max_skipped=0.02)
