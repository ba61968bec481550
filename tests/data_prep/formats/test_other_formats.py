"""YOLO, CSV, LabelMe, VIA, KITTI, Label Studio and VoTT: the same boxes, written by a small writer of each format here,
come out of every one of them; what a file says wrongly is one row with its place."""

import json
import math
import os

import pytest

from common.errors import DataError
from data_prep.__main__ import main
from data_prep.formats import csv_boxes, find, kitti, label_studio, labelme, via, vott, yolo
from data_prep.writer.dataset import Limits
from tests.data_prep.prepared import examples, prepare, skipped

WIDTH, HEIGHT = 80, 60
# {image: [(class, xmin, ymin, xmax, ymax) in pixels]}
TRUTH = {
    "a.jpg": [("cat", 8, 6, 40, 30), ("dog", 20, 12, 60, 54)],
    "b.jpg": [("dog", 0, 0, 80, 60)],
    "c d.jpg": [("cat", 16, 15, 24, 45)],
    "é.jpg": [("cat", 40, 30, 72, 48)],
}


class Folder:
    """A folder with TRUTH's images."""

    def __init__(self, root, encode):
        self.root, self.encode = root, encode
        for name in TRUTH:
            self.image(name)

    def image(self, name):
        self.write(name, self.encode(size=(WIDTH, HEIGHT)))

    def write(self, name, content):
        path = self.root / name
        os.makedirs(str(path.parent), exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))

    def json(self, name, content):
        self.write(name, json.dumps(content))


@pytest.fixture
def folder(tmp_path, encode):
    return Folder(tmp_path / "source", encode)


def stem(name):
    return os.path.splitext(name)[0]


def as_yolo(folder):
    folder.write("data.yaml", "names: [cat, dog]\nnc: 2\n")
    for image, boxes in TRUTH.items():
        lines = [
            f"{['cat', 'dog'].index(name)} {(x1 + x2) / 2 / WIDTH} {(y1 + y2) / 2 / HEIGHT} {(x2 - x1) / WIDTH} "
            f"{(y2 - y1) / HEIGHT}"
            for name, x1, y1, x2, y2 in boxes
        ]
        folder.write(f"{stem(image)}.txt", "\n".join(lines) + "\n")


def as_yolo_polygons(folder):
    folder.write("classes.txt", "cat\ndog\n")
    for image, boxes in TRUTH.items():
        lines = []
        for name, x1, y1, x2, y2 in boxes:
            corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
            points = " ".join(f"{x / WIDTH} {y / HEIGHT}" for x, y in corners)
            lines.append(f"{['cat', 'dog'].index(name)} {points}")
        folder.write(f"{stem(image)}.txt", "\n".join(lines))


def as_csv(folder):
    lines = ["filename,width,height,class,xmin,ymin,xmax,ymax"]
    lines += [f"{image},{WIDTH},{HEIGHT},{name},{x1},{y1},{x2},{y2}" for image, name, x1, y1, x2, y2 in _rows()]
    folder.write("labels.csv", "\n".join(lines))


def as_csv_with_semicolons(folder):
    lines = ["image;label;x_min;y_min;x_max;y_max"]
    lines += [";".join(map(str, row)) for row in _rows()]
    folder.write("labels.csv", "\ufeff" + "\r\n".join(lines))


def as_retinanet(folder):
    folder.write("boxes.csv", "\n".join(f"{image},{a},{b},{c},{d},{name}" for image, name, a, b, c, d in _rows()))


def as_open_images(folder):
    folder.write("class-descriptions-boxable.csv", "/m/01,cat\n/m/02,dog\n")
    lines = ["ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded"]
    codes = {"cat": "/m/01", "dog": "/m/02"}
    lines += [
        f"{stem(image)},xclick,{codes[name]},1,{a / WIDTH},{c / WIDTH},{b / HEIGHT},{d / HEIGHT},0"
        for image, name, a, b, c, d in _rows()
    ]
    folder.write("annotations-bbox.csv", "\n".join(lines))


def as_labelme(folder):
    for image, boxes in TRUTH.items():
        shapes = [
            {"label": name, "points": [[x2, y2], [x1, y1]], "shape_type": "rectangle", "group_id": None}
            for name, x1, y1, x2, y2 in boxes
        ]
        content = {"version": "5.0", "shapes": shapes, "imagePath": image, "imageWidth": WIDTH, "imageHeight": HEIGHT}
        folder.json(f"{stem(image)}.json", dict(content, imageData=None))


def as_via(folder):
    content = {}
    for image, boxes in TRUTH.items():
        regions = [
            {
                "shape_attributes": {"name": "rect", "x": x1, "y": y1, "width": x2 - x1, "height": y2 - y1},
                "region_attributes": {"kind": name},
            }
            for name, x1, y1, x2, y2 in boxes
        ]
        content[image + "123"] = {"filename": image, "size": 123, "regions": regions, "file_attributes": {}}
    folder.json("via_project.json", {"_via_settings": {}, "_via_img_metadata": content})


def as_via_1(folder):
    as_via(folder)
    content = json.loads((folder.root / "via_project.json").read_text())["_via_img_metadata"]
    for image in content.values():
        image["regions"] = {str(number): region for number, region in enumerate(image["regions"])}
        for region in image["regions"].values():
            shape = region["shape_attributes"]
            x, y, width, height = (shape[key] for key in ("x", "y", "width", "height"))
            region["shape_attributes"] = {
                "name": "polygon",
                "all_points_x": [x, x + width, x + width, x],
                "all_points_y": [y, y, y + height, y + height],
            }
    folder.json("via_project.json", content)


def as_kitti(folder):
    for image, boxes in TRUTH.items():
        lines = [f"{name} 0.00 0 -1.5 {a} {b} {c} {d} 1 1 1 1 1 1 0.1" for name, a, b, c, d in boxes]
        lines.append("DontCare -1 -1 -10 1 1 5 5 -1 -1 -1 -1000 -1000 -1000 -10")
        folder.write(f"{stem(image)}.txt", "\n".join(lines) + "\n")


def as_label_studio(folder):
    tasks = []
    for number, (image, boxes) in enumerate(TRUTH.items()):
        results = [
            {
                "type": "rectanglelabels",
                "original_width": WIDTH,
                "original_height": HEIGHT,
                "value": {
                    "x": 100 * x1 / WIDTH,
                    "y": 100 * y1 / HEIGHT,
                    "width": 100 * (x2 - x1) / WIDTH,
                    "height": 100 * (y2 - y1) / HEIGHT,
                    "rotation": 0,
                    "rectanglelabels": [name],
                },
            }
            for name, x1, y1, x2, y2 in boxes
        ]
        data = {"image": f"/data/upload/1/0a1b2c3d-{image}"}
        tasks.append({"id": number, "data": data, "annotations": [{"result": results, "was_cancelled": False}]})
    folder.json("project.json", tasks)


def as_vott(folder):
    assets = {}
    for number, (image, boxes) in enumerate(TRUTH.items()):
        regions = [
            {"tags": [name], "boundingBox": {"left": x1, "top": y1, "width": x2 - x1, "height": y2 - y1}}
            for name, x1, y1, x2, y2 in boxes
        ]
        asset = {"name": image, "path": f"file:/home/me/{image}", "size": {"width": WIDTH, "height": HEIGHT}}
        assets[str(number)] = {"asset": asset, "regions": regions}
    folder.json("vott-json-export/mine-export.json", {"assets": assets, "tags": []})


def _rows():
    return [(image,) + box for image, boxes in TRUTH.items() for box in boxes]


FORMS = {
    "yolo": [as_yolo, as_yolo_polygons],
    "csv": [as_csv, as_csv_with_semicolons, as_retinanet, as_open_images],
    "labelme": [as_labelme],
    "via": [as_via, as_via_1],
    "kitti": [as_kitti],
    "label-studio": [as_label_studio],
    "vott": [as_vott],
}
MODULES = {
    "yolo": yolo,
    "csv": csv_boxes,
    "labelme": labelme,
    "via": via,
    "kitti": kitti,
    "label-studio": label_studio,
    "vott": vott,
}
EVERY = [(name, write) for name, writers in FORMS.items() for write in writers]


def boxes(out):
    """{image: [(class, sides in pixels)]} of the records."""
    found = {}
    for features in examples(out).values():
        scale = {"xmin": WIDTH, "ymin": HEIGHT, "xmax": WIDTH, "ymax": HEIGHT}
        sides = [[round(v * s, 3) for v in features["image/object/bbox/" + side]] for side, s in scale.items()]
        names = [name.decode() for name in features["image/object/class/text"]]
        found[features["image/filename"][0].decode()] = [(name,) + box for name, box in zip(names, zip(*sides))]
    return found


def convert(name, folder, out, max_skipped=1.0, **options):
    module = MODULES[name]
    return prepare(module, folder.root, out, module.Options(shards=1, **options), limits=Limits(max_skipped))


@pytest.mark.parametrize("name, write", EVERY, ids=[write.__name__ for _, write in EVERY])
def test_every_format_gives_the_same_boxes(folder, tmp_path, name, write):
    write(folder)
    dataset = convert(name, folder, tmp_path / "out")
    assert boxes(tmp_path / "out") == TRUTH
    assert (dataset["classes"], dataset["skipped"], dataset["problems"]) == (["cat", "dog"], [], [])


@pytest.mark.parametrize("name, write", EVERY, ids=[write.__name__ for _, write in EVERY])
def test_the_format_is_found_by_the_content(folder, tmp_path, name, write, capsys):
    write(folder)
    assert main(["dataset", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--shards", "1"]) == 0
    assert capsys.readouterr().out.startswith(f"Format: {name}, found in ")
    assert boxes(tmp_path / "out") == TRUTH


def test_several_formats_are_named_and_one_may_be_asked_for(folder, tmp_path, capsys):
    as_yolo(folder)
    as_csv(folder)
    command = ["dataset", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--shards", "1"]
    assert main(command) == 3
    assert "several formats: csv (1 file), yolo (4 files)" in capsys.readouterr().err
    assert main(command + ["--format", "csv"]) == 0
    assert main(command + ["--format", "ylo"]) == 2
    assert "Did you mean yolo?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "file, told",
    [("x.mat", "MATLAB's files"), ("x.tfrecord", "records"), ("x.parquet", "Parquet"), ("x.zip", "an archive")],
)
def test_what_is_not_read_is_told_with_the_nearest_way(folder, file, told):
    folder.write(file, b"\0")
    with pytest.raises(DataError, match=told):
        find.find(str(folder.root), ["voc"])


@pytest.mark.parametrize(
    "case",
    [
        ("yolo", as_yolo, "b.txt", "0 0.5 0.5 0.1", "it has 4 numbers"),
        ("yolo", as_yolo, "b.txt", "0 0.5 0.5 0.1 0.1 0.9", "a prediction with its confidence"),
        ("yolo", as_yolo, "b.txt", "7 0.5 0.5 0.1 0.1", "a class 7 that has no name"),
        ("yolo", as_yolo, "b.txt", "0 0.5 0.5 nan 0.1", "it is no label"),
        ("kitti", as_kitti, "b.txt", "cat 1 2 3", "it has 4 fields"),
        ("kitti", as_kitti, "b.txt", "cat 0.00 0 -1.5 a b c d 1 1 1 1 1 1 0.1", "cannot be read"),
        ("csv", as_csv, "labels.csv", "b.jpg,80,60,cat,1,2,x,4", "its box cannot be read"),
        ("csv", as_csv, "labels.csv", ",80,60,cat,1,2,3,4", "it names no image"),
        ("csv", as_csv, "labels.csv", "b.jpg,90,60,cat,1,2,3,4", "it says 90x60"),
    ],
)
def test_a_line_that_is_wrong_is_one_row_with_its_number(folder, tmp_path, case):
    name, write, file, line, why = case
    write(folder)
    text = (folder.root / file).read_text(encoding="utf-8").rstrip("\n") + f"\n{line}\n"
    folder.write(file, text)
    dataset = convert(name, folder, tmp_path / "out")
    (problem,) = dataset["problems"]
    assert problem["where"] == f"{file}, line {len(text.splitlines())}" and why in problem["why"]
    assert boxes(tmp_path / "out") == TRUTH


def test_yolos_folders_and_data_yaml_are_the_split(folder, tmp_path, encode):
    root = Folder(tmp_path / "other", encode)
    root.write("data.yaml", "path: .\ntrain: images/one\nval: images/two\nnames: {0: cat}\n")
    for part in ("one", "two"):
        for number in (1, 2):
            root.image(f"images/{part}/{part}{number}.jpg")
            root.write(f"labels/{part}/{part}{number}.txt", "0 0.5 0.5 0.5 0.5\n")
    for name in TRUTH:
        os.unlink(str(root.root / name))
    dataset = convert("yolo", root, tmp_path / "out")
    assert {name: split["examples"] for name, split in dataset["splits"].items()} == {"train": 2, "val": 2}
    assert all(name.startswith("images/one/") for name in examples(tmp_path / "out", "train"))


def test_classes_without_names_are_refused(folder, tmp_path):
    as_yolo(folder)
    os.unlink(str(folder.root / "data.yaml"))
    with pytest.raises(DataError, match="names the classes of YOLO's numbers"):
        convert("yolo", folder, tmp_path / "out")
    (tmp_path / "map.pbtxt").write_text('item { id: 1 name: "cat" } item { id: 2 name: "dog" }')
    convert("yolo", folder, tmp_path / "out", label_map=str(tmp_path / "map.pbtxt"))
    assert boxes(tmp_path / "out") == TRUTH


def test_two_lists_of_classes_that_differ_are_refused(folder, tmp_path):
    as_yolo(folder)
    folder.write("classes.txt", "dog\ncat\n")
    with pytest.raises(DataError, match="classes.txt in .* name the classes differently"):
        convert("yolo", folder, tmp_path / "out")


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


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_folder_without_its_annotations_is_refused(folder, tmp_path, name):
    if name == "yolo":
        folder.write("classes.txt", "cat\n")
    with pytest.raises(DataError, match=f"{folder.root} holds no "):
        convert(name, folder, tmp_path / "out")
    with pytest.raises(DataError, match="There is no folder"):
        MODULES[name].read(str(tmp_path / "nowhere"))


def test_labels_may_be_called_like_splits(tmp_path, encode):
    folder = Folder(tmp_path / "source", encode)
    folder.write("classes.txt", "cat\n")
    for name in ("train1", "train_0002", "test", "val-3"):
        folder.image(f"{name}.jpg")
        folder.write(f"{name}.txt", "0 0.5 0.5 0.5 0.5\n")
    folder.write("train.txt", "images/train1.jpg\n")
    dataset = convert("yolo", folder, tmp_path / "out")
    assert set(examples(tmp_path / "out")) == {"train1.jpg", "train_0002.jpg", "test.jpg", "val-3.jpg"}
    assert {"count": 1, "names": ["train.txt"], "reason": "no annotation of this format"} in dataset["unused"]


def test_lists_of_images_are_yolos_split_too(folder, tmp_path):
    """As darknet has it: paths of another machine, one a line."""
    as_yolo(folder)
    folder.write("data.yaml", "names: [cat, dog]\ntrain: lists/train.txt\nval: lists/val.txt\n")
    folder.write("lists/train.txt", "/home/me/set/a.jpg\n/home/me/set/b.jpg\n")
    folder.write("lists/val.txt", "/home/me/set/c d.jpg\n/home/me/set/é.jpg\n")
    convert("yolo", folder, tmp_path / "out")
    assert set(examples(tmp_path / "out", "train")) == {"a.jpg", "b.jpg"}
    assert set(examples(tmp_path / "out", "val")) == {"c d.jpg", "é.jpg"}


def test_other_names_of_open_images_codes_are_another_source(folder):
    """Else a dataset of before would count as complete, its classes exchanged."""
    as_open_images(folder)
    before = csv_boxes.read(str(folder.root)).digest
    folder.write("class-descriptions-boxable.csv", "/m/01,dog\n/m/02,cat\n")
    assert csv_boxes.read(str(folder.root)).digest != before
