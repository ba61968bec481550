"""VIA's JSON: which attribute is the class, and the box around each shape."""

import json
import math

import pytest

from common.errors import DataError
from data_prep.formats import via
from tests.data_prep.formats.truth import TRUTH, as_via, boxes, convert


def test_vias_class_is_the_one_attribute_or_the_one_that_is_named(folder, tmp_path):
    as_via(folder)
    content = json.loads((folder.root / "via_project.json").read_text())
    for image in content["_via_img_metadata"].values():
        for region in image["regions"]:
            region["region_attributes"]["colour"] = "red"
    folder.json("via_project.json", content)
    with pytest.raises(DataError, match="have colour, kind: which is the class?"):
        convert("via", folder, tmp_path / "out")
    convert("via", folder, tmp_path / "out", attribute="kind")
    assert boxes(tmp_path / "out") == TRUTH


@pytest.mark.parametrize(
    "shape, box",
    [
        ({"name": "circle", "cx": 10, "cy": 20, "r": 5}, (5, 15, 15, 25)),
        ({"name": "ellipse", "cx": 10, "cy": 20, "rx": 8, "ry": 4}, (2, 16, 18, 24)),
        ({"name": "ellipse", "cx": 10, "cy": 20, "rx": 8, "ry": 4, "theta": math.pi / 2}, (6, 12, 14, 28)),
        ({"name": "polygon", "all_points_x": [3, 9, 5], "all_points_y": [4, 6, 8]}, (3, 4, 9, 8)),
        ({"name": "rect", "x": 1, "y": 2, "width": 3}, None),
        ({"name": "polyline", "all_points_x": [1], "all_points_y": [1]}, None),
    ],
)
def test_a_shape_has_the_box_around_it_or_none(folder, shape, box):
    regions = [{"shape_attributes": shape, "region_attributes": {"kind": "cat"}}]
    folder.json("via.json", {"a": {"filename": "a.jpg", "size": 1, "regions": regions}})
    (entry,) = via.read(str(folder.root)).entries
    (item,) = entry.annotation.objects
    assert item.name == "cat" and item.box == (box and pytest.approx(box))
    assert item.problem == ("a shape is a polyline, which is no box" if shape["name"] == "polyline" else "")


@pytest.mark.parametrize("marked, name", [({"cat": True}, "cat"), ({"cat": True, "dog": True}, ""), ({}, "")])
def test_a_check_box_is_a_class_where_one_choice_is_marked(folder, marked, name):
    shape = {"name": "rect", "x": 1, "y": 2, "width": 3, "height": 4}
    regions = [{"shape_attributes": shape, "region_attributes": {"kind": marked}}]
    folder.json("via.json", {"a": {"filename": "a.jpg", "regions": regions}})
    (entry,) = via.read(str(folder.root)).entries
    assert entry.classes == (name,)


def test_an_attribute_that_no_region_has_is_refused(folder):
    as_via(folder)
    with pytest.raises(DataError, match="has the attribute colour; there is kind"):
        via.read(str(folder.root), "colour")
