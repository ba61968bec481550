"""Label Studio's JSON: rotated boxes, several annotators, and how a task names its image."""

import json
import math

import pytest

from data_prep.formats import label_studio
from data_prep.images.boxes import Box
from tests.data_prep.formats.truth import as_label_studio, boxes, convert
from tests.data_prep.prepared import skipped


def test_a_rotated_box_of_label_studio_is_the_upright_one_around_it(folder, tmp_path):
    as_label_studio(folder)
    tasks = json.loads((folder.root / "project.json").read_text())
    value = tasks[1]["annotations"][0]["result"][0]["value"]
    value.update(x=50, y=50, width=20, height=20, rotation=30)  # 16x12 px about the corner (40, 30)
    folder.json("project.json", tasks)
    dataset = convert("label-studio", folder, tmp_path / "out")
    cosine, sine = math.cos(math.radians(30)), math.sin(math.radians(30))
    assert boxes(tmp_path / "out")["b.jpg"][0][1:] == pytest.approx(
        (40 - 12 * sine, 30, 40 + 16 * cosine, 30 + 16 * sine + 12 * cosine), abs=0.01
    )
    assert [entry["what"] for entry in dataset["changed"]] == ["changed object"]


def test_two_annotators_who_disagree_are_a_row(folder, tmp_path):
    as_label_studio(folder)
    tasks = json.loads((folder.root / "project.json").read_text())
    other = json.loads(json.dumps(tasks[1]["annotations"][0]))
    tasks[0]["annotations"].append(json.loads(json.dumps(tasks[0]["annotations"][0])))
    other["result"][0]["value"]["x"] = 10
    other["result"][0]["value"]["width"] = 50
    tasks[1]["annotations"].append(other)
    folder.json("project.json", tasks)
    reasons = skipped(convert("label-studio", folder, tmp_path / "out"))
    assert len(reasons) == 1 and "b.jpg is annotated 2 times and differently" in list(reasons.values())[0]


RECTANGLE = {"x": 10, "y": 20, "width": 50, "height": 10, "rectanglelabels": ["cat"]}


def test_json_min_is_read_as_the_whole_export(folder):
    result = {"original_width": 80, "original_height": 60}
    whole = {"data": {"image": "a.jpg"}, "annotations": [{"result": [dict(result, value=RECTANGLE)]}]}
    least = {"annotation_id": 1, "image": "a.jpg", "boxes": [dict(result, **RECTANGLE)]}
    for content in (whole, least):
        folder.json("project.json", [content])
        (entry,) = label_studio.read(str(folder.root)).entries
        (item,) = entry.annotation.objects
        assert (item.name, item.box, entry.size) == ("cat", Box(8, 12, 48, 18), (80, 60))


@pytest.mark.parametrize(
    "named, name, other",
    [
        ("/data/local-files/?d=set/a.jpg", "set/a.jpg", "a.jpg"),
        ("/data/upload/1/0a1b2c3d-a b.jpg", "/data/upload/1/0a1b2c3d-a b.jpg", "a b.jpg"),
        ("a.jpg", "a.jpg", None),
    ],
)
def test_the_image_of_a_task_is_the_one_that_was_uploaded(folder, named, name, other):
    folder.json("project.json", [{"data": {"image": named}, "annotations": [{"result": []}]}])
    (entry,) = label_studio.read(str(folder.root)).entries
    assert (entry.name, entry.others) == (name, (other,) if other else ())


def test_cancelled_annotations_and_results_that_are_no_shapes_are_left_out(folder):
    results = [
        {"type": "choices", "value": {"choices": ["good"]}},
        {"type": "polygonlabels", "original_width": 80, "original_height": 60, "value": {"labels": ["dog"]}},
        {"type": "rectanglelabels", "value": RECTANGLE},  # its original size is not stated
    ]
    annotations = [{"result": results}, {"result": [], "was_cancelled": True}]
    folder.json("project.json", [{"data": {"image": "a.jpg"}, "annotations": annotations}])
    (entry,) = label_studio.read(str(folder.root)).entries
    assert [(item.name, item.box, item.problem) for item in entry.annotation.objects] == [
        ("dog", None, "a shape is of polygonlabels, which is no box"),
        ("cat", None, ""),
    ]
