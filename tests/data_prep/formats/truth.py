"""The same images with the same boxes, written by a small writer of each format."""

import json
import os

from data_prep.formats import csv_boxes, kitti, label_studio, labelme, via, vott, yolo
from data_prep.writer.dataset import Limits
from tests.data_prep.prepared import examples, prepare

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


EVERY = [(name, write) for name, writers in FORMS.items() for write in writers]
