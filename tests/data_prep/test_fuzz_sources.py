"""Damaged images, xml and JSON: no traceback, every image written or listed, only sound records written."""

import contextlib
import io
import json
import os
import shutil

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from data_prep.__main__ import main
from data_prep.check import inputs, scan
from tests.data_prep.foreign_records import image
from tests.data_prep.fuzzing import changed_json, damaged

IMAGES = 8
XML = (
    "<annotation><filename>%d.jpg</filename><size><width>40</width><height>30</height><depth>3</depth></size>"
    "<object><name>%s</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult><bndbox>"
    "<xmin>5</xmin><ymin>6</ymin><xmax>25</xmax><ymax>26</ymax></bndbox></object></annotation>"
)
JSON = {
    "images": [{"id": n, "file_name": f"{n}.jpg", "width": 40, "height": 30} for n in range(IMAGES)],
    "categories": [{"id": 1, "name": "cat"}, {"id": 3, "name": "dog"}],
    "annotations": [
        {
            "id": n,
            "image_id": n,
            "category_id": 1 + n % 2 * 2,
            "bbox": [5, 6, 20, 20],
            "area": 400,
            "segmentation": {"size": [30, 40], "counts": [400, 300, 500]} if n % 2 else [[5, 6, 25, 6, 25, 26, 5, 26]],
            "iscrowd": n % 2,
        }
        for n in range(IMAGES)
    ],
}

# A conversion forks processes: a few of them with many damaged files each.
FEW = settings(deadline=None, max_examples=25, suppress_health_check=HealthCheck.all())


def write_images(folder, damages):
    """As many images, those in damages ({number: bytes}) as given there."""
    folder.mkdir(parents=True)
    for number in range(IMAGES):
        content = damages.get(number)
        (folder / (f"{number}.jpg")).write_bytes(image(number, (200, 150)) if content is None else content)


def convert_and_judge(out, arguments, max_skipped):
    """Run the converter: what it wrote is counted and sound, or it ended with a sentence and without a file."""
    arguments = arguments + ["--out", str(out), "--shards", "1", "--workers", "1", "--max-skipped", str(max_skipped)]
    with contextlib.redirect_stdout(io.StringIO()) as message, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(arguments)
    lines = err.getvalue().strip().splitlines()
    assert "Traceback" not in err.getvalue() + message.getvalue()
    if code:
        assert code in (2, 3) and len(lines) == 2, lines
        assert not [name for name in (os.listdir(str(out)) if out.exists() else []) if "record" in name]
        return code
    dataset = json.loads((out / "dataset.json").read_text(encoding="utf-8"))
    listed = sum(split["listed"] for split in dataset["splits"].values())
    written = sum(split["examples"] for split in dataset["splits"].values())
    assert written + len(dataset["skipped"]) == listed
    assert all(entry["reason"] for entry in dataset["skipped"])
    lost = {entry["id"] for entry in dataset["skipped"] if not entry["forgiven"]}
    lost |= {entry["id"] for entry in dataset["changed"] if entry["what"] == "rejected box"}
    assert len(lost) <= max_skipped * listed
    report = scan.scan(inputs.find([str(out)]), scan.Options(decode=None))
    assert report.records == written
    errors = [entry for entry in report.as_json()["findings"] if entry["severity"] == "error"]
    # Images without any box are no fault of the conversion.
    assert [entry for entry in errors if entry["kind"] != "no-boxes"] == []
    return code


@contextlib.contextmanager
def scratch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    try:
        yield folder
    finally:
        shutil.rmtree(str(folder))


_LIMITS = strategies.sampled_from((0.02, 0.5, 1.0, 1.0))


def _some(strategy):
    return strategies.dictionaries(strategies.integers(0, IMAGES - 1), strategy, min_size=1, max_size=4)


@FEW
@given(_some(damaged(image(3, (200, 150))) | damaged(image(3, kind="PNG")) | strategies.binary(max_size=9)), _LIMITS)
def test_damaged_images_are_converted_or_listed(tmp_path_factory, damages, limit):
    with scratch(tmp_path_factory) as folder:
        write_images(folder / "in" / "JPEGImages", damages)
        (folder / "in" / "Annotations").mkdir()
        for number in range(IMAGES):
            (folder / "in" / "Annotations" / (f"{number}.xml")).write_text(XML % (number, "cat"))
        convert_and_judge(folder / "out", ["voc", "--source", str(folder / "in")], limit)


@FEW
@given(_some(damaged((XML % (3, "cat")).encode("ascii")) | strategies.binary(max_size=9)), _LIMITS)
def test_damaged_xml_is_converted_or_listed(tmp_path_factory, damages, limit):
    with scratch(tmp_path_factory) as folder:
        write_images(folder / "in" / "JPEGImages", {})
        (folder / "in" / "Annotations").mkdir()
        for number in range(IMAGES):
            content = damages.get(number, (XML % (number, "cat")).encode("ascii"))
            (folder / "in" / "Annotations" / (f"{number}.xml")).write_bytes(content)
        (folder / "map").write_text('item { id: 1 name: "cat" }')
        arguments = ["voc", "--source", str(folder / "in"), "--label-map", str(folder / "map")]
        convert_and_judge(folder / "out", arguments, limit)


@FEW
@given(
    changed_json(JSON).map(lambda content: json.dumps(content).encode("ascii"))
    | damaged(json.dumps(JSON).encode("ascii")),
    _LIMITS,
    strategies.sampled_from(("none", "png", "numerical")),
)
def test_damaged_json_is_converted_or_listed(tmp_path_factory, content, limit, masks):
    with scratch(tmp_path_factory) as folder:
        write_images(folder / "in", {})
        (folder / "in" / "instances.json").write_bytes(content)
        convert_and_judge(folder / "out", ["coco", "--source", str(folder / "in"), "--masks", masks], limit)


@pytest.mark.parametrize("arguments", [["voc"], ["coco"]])
def test_without_damage_everything_is_written(tmp_path, arguments):
    write_images(tmp_path / "in", {})
    if arguments == ["coco"]:
        (tmp_path / "in" / "instances.json").write_text(json.dumps(JSON))
    for number in range(IMAGES):
        if arguments == ["voc"]:
            (tmp_path / "in" / (f"{number}.xml")).write_text(XML % (number, "cat"))
    assert convert_and_judge(tmp_path / "out", arguments + ["--source", str(tmp_path / "in")], 0.02) == 0
