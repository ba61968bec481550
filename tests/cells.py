"""Draws a set like blood cells under a microscope: few large, some middling and many tiny objects, as COCO JSON."""

import json
import random

from PIL import Image, ImageDraw, ImageFilter

SIZE = (320, 240)
CLASSES = ("tiny", "medium", "large")
# How many an image, and their radius in px: of tiny ones a side is 2.5 % of the image's.
KINDS = (("large", (1, 1), (42.5, 52.5)), ("medium", (4, 7), (18.0, 24.0)), ("tiny", (6, 10), (3.5, 4.5)))
COLOURS = {"large": (120, 60, 160), "medium": (225, 130, 130), "tiny": (105, 40, 145)}


def draw(folder, images, seed=7):
    """Draws images into folder/train and, a quarter as many, folder/valid; each with its _annotations.coco.json."""
    chance = random.Random(seed)
    for split, count in (("train", images), ("valid", max(images // 4, 1))):
        (folder / split).mkdir(parents=True)
        boxes = {f"{split}{number:03d}.jpg": None for number in range(count)}
        for name in boxes:
            boxes[name] = _image(folder / split / name, chance)
        (folder / split / "_annotations.coco.json").write_text(json.dumps(_coco(boxes)))
    return folder


def converted(folder, images):
    """The dataset of as many drawn images, in folder/cells."""
    from data_prep.__main__ import main as data_prep

    draw(folder / "raw", images)
    assert data_prep(["dataset", "--source", str(folder / "raw"), "--out", str(folder / "cells")]) == 0
    return folder / "cells"


def _image(path, chance):
    """Draws an image; returns (class, (xmin, ymin, xmax, ymax)) of each object."""
    # Drawn twice as large and shrunk: edges are smooth, as a lens makes them.
    image = Image.new(
        "RGB", (2 * SIZE[0], 2 * SIZE[1]), tuple(chance.randint(*span) for span in ((225, 245), (205, 225), (205, 225)))
    )
    placed = []
    for kind, (least, most), radii in KINDS:
        for _ in range(chance.randint(least, most)):
            box = _free_place(placed, chance, radii)
            if box:
                placed.append((kind, box))
                colour = tuple(part + chance.randint(-12, 12) for part in COLOURS[kind])
                _cell(ImageDraw.Draw(image), box, colour)
    image.filter(ImageFilter.GaussianBlur(1)).resize(SIZE, Image.LANCZOS).save(str(path), quality=92)
    return [(kind, tuple(side / 2 for side in box)) for kind, box in placed]


def _free_place(placed, chance, radii):
    """A box that touches none of those placed, in px of the drawing; None where none is found."""
    for _ in range(200):
        across = 2 * chance.uniform(*radii)
        down = across * chance.uniform(0.85, 1.15)
        x, y = chance.uniform(across, 2 * SIZE[0] - across), chance.uniform(down, 2 * SIZE[1] - down)
        box = (x - across, y - down, x + across, y + down)
        if all(box[2] < o[0] or box[0] > o[2] or box[3] < o[1] or box[1] > o[3] for _, o in placed):
            return box
    return None


def _cell(canvas, box, colour):
    canvas.ellipse(box, fill=colour)
    across, down = (box[2] - box[0]) * 0.3, (box[3] - box[1]) * 0.3
    canvas.ellipse(
        (box[0] + across, box[1] + down, box[2] - across, box[3] - down), fill=tuple(part + 25 for part in colour)
    )


def _coco(boxes):
    annotations = [(image, kind, box) for image, name in enumerate(boxes, 1) for kind, box in boxes[name]]
    return {
        "images": [
            {"id": number, "file_name": name, "width": SIZE[0], "height": SIZE[1]}
            for number, name in enumerate(boxes, 1)
        ],
        "annotations": [
            {
                "id": number,
                "image_id": image,
                "category_id": CLASSES.index(kind) + 1,
                "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]],
                "area": (box[2] - box[0]) * (box[3] - box[1]),
                "iscrowd": 0,
            }
            for number, (image, kind, box) in enumerate(annotations, 1)
        ],
        "categories": [{"id": number, "name": name} for number, name in enumerate(CLASSES, 1)],
    }
