"""A small dataset in Oxford-IIIT Pet's layout that tests may break."""

import io
import os

import pytest
from PIL import Image

from data_prep.formats import pets
from data_prep.writer.dataset import Limits
from tests.data_prep.prepared import prepare

COLOURS = ((200, 60, 60), (60, 160, 60), (60, 60, 200))


def encode_image(mode="RGB", size=(40, 30), kind="JPEG", **options):
    """An image file's bytes: three vertical stripes, so that turning it can be seen."""
    image = Image.new("RGB", size)
    for index, colour in enumerate(COLOURS):
        image.paste(colour, (index * size[0] // 3, 0, size[0], size[1]))
    out = io.BytesIO()
    image.convert(mode).save(out, kind, **options)
    return out.getvalue()


class RawPets:
    """A folder in the dataset's layout with `count` images of pugs, each 40x30 with one box."""

    def __init__(self, root, count=20):
        self.root = str(root)
        self.ids = [f"pug_{number}" for number in range(1, count + 1)]
        for folder in ("images", "annotations/xmls"):
            os.makedirs(os.path.join(self.root, folder))
        for image_id in self.ids:
            self.image(image_id, encode_image())
            self.annotate(image_id, (5, 6, 25, 26))
        self.list(self.ids)

    def list(self, ids):
        self._write("annotations/trainval.txt", "".join(f"{i} 1 2 1\n" for i in ids).encode("utf-8"))

    def image(self, image_id, data, extension=".jpg"):
        self._write(f"images/{image_id}{extension}", data)

    def annotate(self, image_id, *boxes, size=(40, 30)):
        objects = "".join(
            "<object><name>dog</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>"
            f"<bndbox><xmin>{xmin}</xmin><ymin>{ymin}</ymin><xmax>{xmax}</xmax><ymax>{ymax}</ymax></bndbox></object>"
            for xmin, ymin, xmax, ymax in boxes
        )
        size = f"<size><width>{size[0]}</width><height>{size[1]}</height></size>"
        self.xml(image_id, f"<annotation>{size}{objects}</annotation>")

    def xml(self, image_id, text):
        self._write(f"annotations/xmls/{image_id}.xml", text.encode("utf-8"))

    def remove(self, path):
        os.unlink(os.path.join(self.root, path))

    def _write(self, path, data):
        with open(os.path.join(self.root, path), "wb") as file:
            file.write(data)

    def trimap(self, image_id, rows, size=(40, 30), mode="L"):
        """rows: {(left, top, right, bottom): value} painted over background, in order."""
        image = Image.new(mode, size, 2 if mode in ("L", "P") else 0)
        for area, value in rows.items():
            image.paste(value, area)
        out = io.BytesIO()
        image.save(out, "PNG")
        os.makedirs(os.path.join(self.root, "annotations", "trimaps"), exist_ok=True)
        self._write(f"annotations/trimaps/{image_id}.png", out.getvalue())

    def convert(self, out, workers=None, max_skipped=1.0, strict=False, **options):
        options.setdefault("shards", 2)
        return prepare(
            pets, self.root, str(out), pets.Options(**options), workers=workers, limits=Limits(max_skipped, strict)
        )


@pytest.fixture(scope="session")
def encode():
    """function(mode, size, kind, **options) -> the bytes of an image file."""
    return encode_image


@pytest.fixture
def raw(tmp_path):
    return RawPets(tmp_path / "raw source")
