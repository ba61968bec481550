"""mini-pets: a built-in dataset of drawn pets, so that the whole way can be run without a download.

It is written in exactly Oxford-IIIT Pet's layout, with two of its warts (a PNG called .jpg, an image without
xml), and converted by the same code. The same version draws the same bytes.
"""

import io
import multiprocessing
import os
import random
import shutil
import signal
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from PIL import Image, ImageChops, ImageFilter

from common import files
from common.progress import Progress
from data_prep.check import quick
from data_prep.formats import pets
from data_prep.mini_pets import backgrounds, portraits
from data_prep.mini_pets.canvas import Canvas
from data_prep.writer import dataset, ownership

GENERATOR = {"generator": "mini-pets", "version": 1, "seed": 7}
CLASSES = ("Bengal", "pug", "Siamese")
_SPECIES = {"Bengal": "cat", "pug": "dog", "Siamese": "cat"}
_PAINTERS = {"Bengal": portraits.bengal, "pug": portraits.pug, "Siamese": portraits.siamese}

_PER_CLASS = 68
_TEST_PER_CLASS = 3  # the last of each class go to test.txt, which has no xml, as in the original
_PNG_INSIDE = "Bengal_5"
_WITHOUT_XML = "pug_8"

_SUPERSAMPLE = 2
_SIZES = ((240, 180), (180, 240), (200, 200), (256, 192), (224, 168), (192, 256), (240, 160), (160, 160), (200, 150))
_JPEG_QUALITY = 90
_PET, _BACKGROUND, _BORDER = 1, 2, 3


class Drawing(NamedTuple):
    """An image (RGB), the heads' boxes in its pixels (1-based as in the original), its trimap (mode L)."""

    image: Image.Image
    boxes: List[Tuple[int, int, int, int]]
    trimap: Image.Image


def prepare(
    out_dir: str, shards: Optional[int] = None, workers: Optional[int] = None, force: bool = False
) -> Dict[str, Any]:
    """Draw the raw dataset into out_dir/raw and convert it into out_dir; return its dataset.json.

    Does nothing if out_dir already holds what this version draws, unless forced.

    Args:
        out_dir: where it goes.
        shards: files a split, by default ten.
        workers: processes, by default one a core.
        force: draw and convert again even if the dataset is complete.

    Raises:
        DataError: the disk is not as needed.
    """
    shards = shards or dataset.SHARDS
    with files.locked(out_dir):
        ready = None if force else quick.complete(out_dir, drawn_by=GENERATOR, shards=shards)
        if ready:
            return ready
        raw = os.path.join(out_dir, "raw")
        # It is drawn over, and a folder of that name may be somebody's own.
        beside = ("contact-sheet.png",) + (("raw",) if _is_drawn(raw) else ())
        ownership.refuse_foreign(out_dir, beside)
        ownership.claim(out_dir, ["raw"])
        files.remove_temporaries(out_dir)
        _draw_all(raw, workers or dataset.available_cores())
        plan = pets.plan(raw, "mini-pets", pets.Options(shards=shards), CLASSES, one_pet_each=False)
        return dataset.write(
            out_dir,
            plan._replace(extra=dict(plan.extra, drawn_by=GENERATOR), command=("mini-pets", {"shards": shards})),
            workers,
        )


def image_ids() -> List[str]:
    """All image ids, in the order of list.txt."""
    return [f"{breed}_{number}" for breed in CLASSES for number in range(1, _PER_CLASS + 1)]


def draw(image_id: str) -> Drawing:
    """Return the Drawing of an image; the same id always gives the same pixels."""
    rng = random.Random(f"{GENERATOR['generator']} {GENERATOR['version']} {GENERATOR['seed']} {image_id}")
    breed = pets.breed_of(image_id)
    width, height = rng.choice(_SIZES)
    size = (width * _SUPERSAMPLE, height * _SUPERSAMPLE)
    canvas = Canvas(Image.new("RGB", size))
    backgrounds.paint(canvas, rng, min(size) / 10)
    heads, pet_mask = [], Image.new("L", size, 0)
    for x, y, scale in _places(rng, *size):
        painted = _PAINTERS[breed](canvas, rng, portraits.pose(rng, x, y, scale))
        heads.append(painted.head)
        pet_mask = ImageChops.lighter(pet_mask, ImageChops.lighter(painted.head, painted.body))
    image = canvas.image.resize((width, height), Image.LANCZOS)
    image = _camera(image, rng)
    return Drawing(image, [_box(head) for head in heads], _trimap(pet_mask, (width, height)))


def _places(rng, width, height):
    """Centre and half width of each head, in canvas pixels: one pet, or two side by side."""
    side = min(width, height)
    if rng.random() < 0.22:
        scale = min(side * rng.uniform(0.15, 0.2), width * 0.17)
        left = rng.uniform(0.25, 0.29) * width
        right = width - rng.uniform(0.25, 0.29) * width
        return [(x, height * rng.uniform(0.42, 0.62), scale * rng.uniform(0.88, 1.05)) for x in (left, right)]
    scale = side * rng.uniform(0.16, 0.31)
    # Ears reach 1.7 half widths above the centre, and a tilted head as much to the side.
    x = rng.uniform(min(scale * 1.5, width / 2), max(width - scale * 1.5, width / 2))
    y = rng.uniform(min(scale * 1.8, height / 2), max(height - scale * 1.25, height / 2))
    return [(x, y, scale)]


def _camera(image, rng):
    """What a camera does: a little noise, brightness and colour of the light."""
    gain = rng.uniform(0.85, 1.12)
    tint = [gain * rng.uniform(0.95, 1.05) for _ in range(3)]
    image = image.point([min(255, int(value * channel)) for channel in tint for value in range(256)])
    count = image.width * image.height
    grain = Image.frombytes("L", image.size, rng.getrandbits(8 * count).to_bytes(count, "little"))
    grain = grain.point([value * 10 // 256 for value in range(256)])
    return ImageChops.subtract(image, Image.merge("RGB", (grain, grain, grain)), 1, 5)


def _box(head):
    left, top, right, bottom = head.getbbox()
    scale = _SUPERSAMPLE
    return left // scale + 1, top // scale + 1, -(-right // scale), -(-bottom // scale)


def _trimap(pet_mask, size):
    """1 pet, 2 background, 3 a border a few pixels wide between them."""
    inside = pet_mask.resize(size, Image.BOX).filter(ImageFilter.BoxBlur(2))
    return inside.point([_BACKGROUND] * 32 + [_BORDER] * 192 + [_PET] * 32)


def _draw_all(raw, workers):
    """Write the raw dataset to a temporary folder and rename it to raw."""
    unfinished = files.temporary(raw)
    for folder in ("images", "annotations/xmls", "annotations/trimaps"):
        os.makedirs(os.path.join(unfinished, folder))
    ids = image_ids()
    jobs = [(image_id, unfinished) for image_id in ids]
    with multiprocessing.Pool(workers, _ignore_interrupt) as pool, Progress("Drawing", len(ids), "images") as progress:
        for _ in pool.imap_unordered(_draw_one, jobs, chunksize=4):
            progress.update(1)
    _write_lists(unfinished, ids)
    shutil.rmtree(raw, ignore_errors=True)
    os.replace(unfinished, raw)


def _ignore_interrupt():
    # Ctrl-C reaches every process of the terminal; the parent ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _draw_one(job):
    image_id, folder = job
    drawing = draw(image_id)
    buffer = io.BytesIO()
    if image_id == _PNG_INSIDE:
        drawing.image.save(buffer, "PNG")
    else:
        drawing.image.save(buffer, "JPEG", quality=_JPEG_QUALITY)
    _save(os.path.join(folder, "images", image_id + ".jpg"), buffer.getvalue())
    buffer = io.BytesIO()
    drawing.trimap.save(buffer, "PNG")
    _save(os.path.join(folder, "annotations", "trimaps", image_id + ".png"), buffer.getvalue())
    if image_id != _WITHOUT_XML and not _is_test(image_id):
        _save(os.path.join(folder, "annotations", "xmls", image_id + ".xml"), _xml(image_id, drawing).encode("utf-8"))


def _save(path, data):
    # The folder is renamed when it is complete, so its files need no temporary names of their own.
    with open(path, "wb") as file:
        file.write(data)


def _is_test(image_id):
    return int(image_id.rsplit("_", 1)[1]) > _PER_CLASS - _TEST_PER_CLASS


def _xml(image_id, drawing):
    species = _SPECIES[pets.breed_of(image_id)]
    objects = "".join(
        f"<object><name>{species}</name><pose>Frontal</pose><truncated>0</truncated><occluded>0</occluded>"
        f"<bndbox><xmin>{xmin}</xmin><ymin>{ymin}</ymin><xmax>{xmax}</xmax><ymax>{ymax}</ymax></bndbox>"
        "<difficult>0</difficult></object>"
        for xmin, ymin, xmax, ymax in drawing.boxes
    )
    return (
        f"<annotation><folder>mini-pets</folder><filename>{image_id}.jpg</filename>"
        "<source><database>mini-pets</database><annotation>drawn</annotation><image>drawn</image></source>"
        f"<size><width>{drawing.image.width}</width><height>{drawing.image.height}</height><depth>3</depth></size>"
        f"<segmented>0</segmented>{objects}</annotation>\n"
    )


def _is_drawn(raw):
    """Whether a folder holds what this module draws, also an earlier version of it: its list of images says so."""
    try:
        return files.read(os.path.join(raw, "annotations", "list.txt")) == _lists(image_ids())["list"].encode("utf-8")
    except OSError:
        return False


def _write_lists(folder, ids):
    for name, text in _lists(ids).items():
        _save(os.path.join(folder, "annotations", name + ".txt"), text.encode("utf-8"))


def _lists(ids):
    """list.txt, trainval.txt and test.txt: id, class, species (1 cat, 2 dog), breed within the species."""
    lines = {}
    for image_id in ids:
        breed = pets.breed_of(image_id)
        same_species = [name for name in CLASSES if _SPECIES[name] == _SPECIES[breed]]
        species = 1 if _SPECIES[breed] == "cat" else 2
        lines[image_id] = f"{image_id} {CLASSES.index(breed) + 1} {species} {same_species.index(breed) + 1}\n"
    header = "#Image CLASS-ID SPECIES BREED-ID\n#SPECIES: 1:Cat 2:Dog\n"
    return {
        "list": header + "".join(lines[image_id] for image_id in ids),
        "trainval": "".join(lines[i] for i in ids if not _is_test(i)),
        "test": "".join(lines[i] for i in ids if _is_test(i)),
    }
