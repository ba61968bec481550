"""LabelMe's JSON: the boxes and masks of its shapes."""

import json

from data_prep.formats import labelme
from data_prep.images.boxes import Box
from tests.data_prep.formats.truth import HEIGHT, TRUTH, WIDTH, as_labelme, boxes, convert, stem
from tests.data_prep.prepared import examples


def test_shapes_that_are_no_boxes_are_told(folder, tmp_path):
    as_labelme(folder)
    content = json.loads((folder.root / "a.json").read_text())
    content["shapes"].append({"label": "cat", "points": [[1, 1], [5, 5]], "shape_type": "line"})
    content["shapes"].append({"label": "dog", "points": [[20, 20], [20, 30]], "shape_type": "circle"})
    folder.json("a.json", content)
    dataset = convert("labelme", folder, tmp_path / "out")
    assert [entry["detail"] for entry in dataset["changed"]] == ["a shape is a line, which is no box"]
    assert boxes(tmp_path / "out")["a.jpg"][-1] == ("dog", 10, 10, 30, 30)


def test_labelmes_polygons_are_masks(folder, tmp_path):
    as_labelme(folder)
    for name in TRUTH:
        content = json.loads((folder.root / f"{stem(name)}.json").read_text())
        for shape in content["shapes"]:
            (x2, y2), (x1, y1) = shape["points"]
            shape.update(points=[[x1, y1], [x2, y1], [x2, y2], [x1, y2]], shape_type="polygon")
        folder.json(f"{stem(name)}.json", content)
    dataset = convert("labelme", folder, tmp_path / "out", masks="numerical")
    assert boxes(tmp_path / "out") == TRUTH
    mask = examples(tmp_path / "out")["b.jpg"]["image/object/mask"]
    assert (len(mask), sum(mask)) == (WIDTH * HEIGHT, WIDTH * HEIGHT)
    assert dataset["config"]["load_instance_masks"]


def objects(folder, *shapes, **fields):
    content = dict({"shapes": list(shapes), "imagePath": "..\\x\\a.jpg", "imageWidth": 80, "imageHeight": 60}, **fields)
    folder.json("json/a.json", content)
    (entry,) = labelme.read(str(folder.root)).entries
    return entry, entry.annotation.objects


def test_a_shape_without_a_kind_is_a_polygon_and_one_without_points_has_no_box(folder):
    entry, found = objects(folder, {"label": " cat ", "points": [[1, 2], [5, 3], [4, 9]]}, {"label": "dog"})
    assert [(item.name, item.box, item.mask is None) for item in found] == [
        ("cat", Box(1, 2, 5, 9), False),
        ("dog", None, True),
    ]
    assert found[0].mask().shape == (60, 80)
    assert (entry.name, entry.stem, entry.others) == ("json/a", True, ("json/../x/a.jpg", "..\\x\\a.jpg"))


def test_other_json_is_not_labelmes():
    assert labelme.is_labelme({"shapes": [], "imagePath": ""})
    assert not labelme.is_labelme({"shapes": []}) and not labelme.is_labelme({"shapes": {}, "imagePath": ""})
    assert not labelme.is_labelme([])
