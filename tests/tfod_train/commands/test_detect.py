"""`entrypoint.py detect` draws what an export finds on images of any kind."""

import json
import os
import shutil

import numpy as np
import pytest
from PIL import Image

from common.errors import Refused
from tfod_train.commands import detect
from tfod_train.export.compare import Detections


def read_json(*parts):
    with open(os.path.join(*map(str, parts))) as source:
        return json.load(source)


@pytest.mark.training
class TestDetect(object):
    @pytest.fixture(scope="class")
    def drawn(self, tiny, exported, tmp_path_factory):
        """(Run, folder of the results) of images of several kinds; two cannot be used."""
        assert exported.code == 0, exported.console
        source, out = tmp_path_factory.mktemp("pictures"), tmp_path_factory.mktemp("drawn")
        image = Image.new("RGB", (80, 40), "white")
        image.paste("red", (0, 0, 40, 40))
        turned = Image.Exif()
        turned[0x0112] = 6
        image.save(str(source / "turned.jpg"), exif=turned.tobytes())
        image.convert("P").save(str(source / "flat.gif"))
        image.convert("CMYK").save(str(source / "print.jpg"))
        image.convert("L").save(str(source / "gray.png"))
        (source / "empty.jpg").write_bytes(b"")
        (source / "folder.jpg").mkdir()
        (source / "other").mkdir()
        image.save(str(source / "other" / "flat.png"))
        (source / "broken.jpg").write_bytes((source / "turned.jpg").read_bytes()[:400])
        (model,) = (
            os.path.join(exported.folder, "export", name)
            for name in os.listdir(os.path.join(exported.folder, "export"))
        )
        broken = os.path.join(os.fsencode(str(source)), b"bro\xffken.jpg")  # no text in UTF-8
        os.rename(str(source / "broken.jpg"), broken)
        return tiny(
            "detect",
            "",
            "--model",
            model,
            "--out",
            out,
            "--min-score",
            "0",
            source / "turned.jpg",
            os.fsdecode(broken),
            source / "flat.gif",
            source / "other" / "flat.png",
            source / "print.jpg",
            source / "gray.png",
            source / "empty.jpg",
            source / "folder.jpg",
            source / "missing.jpg",
        ), out

    def test_unusable_images_are_listed_and_the_others_done(self, drawn):
        done, out = drawn
        assert done.code == 3, done.console
        results = read_json(out, "detections.json")
        assert [os.path.basename(one["file"]) for one in results["failed"]] == [
            "bro\udcffken.jpg",
            "empty.jpg",
            "folder.jpg",
            "missing.jpg",
        ]
        assert [one["drawn"] for one in results["pictures"]] == [
            "turned.jpg",
            "flat.png",
            "flat-2.png",
            "print.jpg",
            "gray.png",
        ]
        assert r"bro\udcffken.jpg: the image cannot be decoded" in done.console
        assert "empty.jpg: the image file is empty." in done.console

    def test_images_stand_upright_and_keep_their_size(self, drawn):
        _, out = drawn
        assert Image.open(str(out / "turned.jpg")).size == (40, 80)
        for name in ("flat.png", "print.jpg", "gray.png"):
            drawn_on = Image.open(str(out / name))
            assert (drawn_on.size, drawn_on.mode) == ((80, 40), "RGB")

    def test_detections_have_names_and_pixels(self, drawn):
        """All that the model finds, for what it gives a score is chance after six steps."""
        _, out = drawn
        found = read_json(out, "detections.json")["pictures"][0]
        assert (found["width"], found["height"]) == (40, 80)
        assert len(found["detections"]) == 100
        for one in found["detections"]:
            assert one["class"] in ("Bengal", "pug", "Siamese") and 0 <= one["score"] <= 1
            assert 0 <= one["box_pixels"]["ymin"] <= one["box_pixels"]["ymax"] <= 80
            assert 0 <= one["box_pixels"]["xmin"] <= one["box_pixels"]["xmax"] <= 40


def test_detections_below_the_score_are_left_out_and_boxes_are_in_pixels(tmp_path):
    class Model(object):
        def detect(self, image):
            assert image.shape == (40, 80, 3)
            return Detections(
                np.array([[0, 0, 1, 1], [0.25, 0.5, 0.5, 1], [0, 0, 0.5, 0.5]]),
                np.array([0.9, 0.5, 0.4]),
                np.array([2, 9, 1]),
            )

    Image.new("RGB", (80, 40)).save(str(tmp_path / "seen.png"))
    found = detect._detect(Model(), {1: "cat", 2: "dog"}, str(tmp_path / "seen.png"), str(tmp_path / "out.png"), 0.5)
    assert found["detections"] == [
        {"class": "dog", "id": 2, "score": 0.9, "box_pixels": {"ymin": 0, "xmin": 0, "ymax": 40, "xmax": 80}},
        {"class": "class 9", "id": 9, "score": 0.5, "box_pixels": {"ymin": 10, "xmin": 40, "ymax": 20, "xmax": 80}},
    ]
    assert Image.open(str(tmp_path / "out.png")).getbbox() == (0, 0, 80, 40)


@pytest.mark.training
@pytest.mark.parametrize(
    "name, content, sentence",
    [
        ("frozen_inference_graph.pb", b"", "frozen_inference_graph.pb cannot be read as a frozen graph: it has no "),
        ("label_map.pbtxt", b"item {", "label_map.pbtxt cannot be read as a label map: it is no text proto."),
    ],
)
def test_a_damaged_export_is_named(name, content, sentence, tiny, exported, tmp_path):
    (model,) = (
        os.path.join(exported.folder, "export", one) for one in os.listdir(os.path.join(exported.folder, "export"))
    )
    shutil.copytree(model, str(tmp_path / "export"))
    (tmp_path / "export" / name).write_bytes(content)
    refused = tiny("detect", "", "--model", tmp_path / "export", "--out", tmp_path / "out", "a.jpg")
    assert refused.code == 2 and sentence in refused.console


def test_nothing_of_others_is_drawn_over(tmp_path):
    (tmp_path / "detections.json").write_text('{"mine": 1}')
    (tmp_path / "a.jpg").write_text("mine")
    with pytest.raises(Refused) as refused:
        detect._claim(str(tmp_path), [str(tmp_path / "b.jpg")])
    assert refused.value.code == 2 and "a.jpg, detections.json" in refused.value.what
    assert sorted(os.listdir(str(tmp_path))) == ["a.jpg", "detections.json"]


def test_what_detect_drew_before_is_drawn_over_also_where_it_kept_no_list_yet(tmp_path):
    detect._claim(str(tmp_path), [str(tmp_path / "a.jpg")])
    for name in ("a.jpg", "detect.log"):
        (tmp_path / name).write_text("")
    found = {"model": "m", "min_score": 0.5, "failed": [], "pictures": [{"drawn": "a.jpg"}]}
    (tmp_path / "detections.json").write_text(json.dumps(found))
    detect._claim(str(tmp_path), [str(tmp_path / "b.jpg")])
    (tmp_path / ".tfod-train.json").unlink()
    detect._claim(str(tmp_path), [str(tmp_path / "c.jpg")])
    detect._claim(str(tmp_path), [str(tmp_path / "d.jpg")])
