"""`python -m data_prep show`: reads any TFRecords once, chooses images, counts classes and box sizes.

`draw` draws what is gathered here.
"""

import collections
import hashlib
import heapq
import math
import os
from argparse import Namespace
from typing import Counter, Dict, List, Optional, Tuple

from common import files
from common.errors import DataError, UsageError
from common.progress import Progress
from data_prep.check import inputs
from data_prep.contact_sheet.statistics import BINS_PER_OCTAVE, OCTAVES, Gathered, Shown
from data_prep.tfrecord import example_rules, tolerant_reader
from data_prep.tfrecord.label_map import LabelMap

IMAGES = 12
MOST_IMAGES = 200
_CLASSES_KEPT = 10000


def run(options: Namespace) -> int:
    """Draw the sheet that the command line asks for; returns 0.

    Raises:
        UsageError: the options make no sense.
        DataError: there is no record that can be read.
    """
    if not 1 <= options.count <= MOST_IMAGES:
        raise UsageError(
            f"--count {options.count} is not between 1 and {MOST_IMAGES}.", "Give the number of images on the sheet."
        )
    found = inputs.find([options.path])
    out = options.out or _default_out(options.path)
    if not out.lower().endswith(".png"):
        raise UsageError(f"--out {out} does not end in .png, and the sheet is one.", "Name a .png file.")
    _refuse_other_images(out)
    gathered = gather(found, options.count, inputs.classes(found, options.label_map))
    if not gathered.splits:
        raise DataError(
            f"{options.path} holds no record that can be read.",
            f"See what is wrong with it: python -m data_prep check {options.path}.",
        )
    from data_prep.contact_sheet import draw

    title = os.path.basename(os.path.abspath(options.path).rstrip("/")) or options.path
    files.write(out, draw.draw(gathered, title))
    print(f"{out} shows {len(gathered.images)} of {sum(gathered.splits.values())} images.")
    if gathered.unreadable or gathered.odd_boxes:
        print(
            f"{gathered.unreadable} records cannot be read and {gathered.odd_boxes} boxes do not lie in their "
            f"image; see which: python -m data_prep check {options.path}"
        )
    lost = draw.not_shown(gathered)
    if lost:
        print(
            f"{len(lost)} names have characters that no font here can show ({', '.join(lost[:3])}): they "
            "stand as \\u and a number. Install a font that has them, such as Noto Sans CJK."
        )
    return 0


def _refuse_other_images(path):
    """A sheet is drawn over a sheet, and over nothing else."""
    if not os.path.lexists(path):
        return
    from PIL import Image

    from data_prep.contact_sheet import draw

    try:
        with Image.open(path) as image:
            ours = image.info.get("Software") == draw.SOFTWARE
    except (OSError, ValueError, SyntaxError):
        ours = False
    if not ours:
        raise UsageError(f"{path} is there, and is no sheet of this version.", "Move it, or name another with --out.")


def _default_out(path):
    """Beside the data: in its folder."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    return os.path.join(folder, "contact-sheet.png")


def gather(found: inputs.Sources, count: int, label_map: Optional[LabelMap] = None) -> Gathered:
    """Read everything in found once.

    Which images are shown does not depend on the order of files or records: of each class those whose ids have the
    smallest hashes, one class after the other, the most frequent first.

    Args:
        found: of inputs.find.
        count: how many images, if there are so many.
        label_map: of the classes, None for the names in the records.
    """
    classes: Counter[Tuple[str, str]] = collections.Counter()
    splits: Dict[str, int] = collections.OrderedDict()
    chosen: Dict[str, List[Tuple[int, str, int]]] = {}
    bins = OCTAVES * BINS_PER_OCTAVE
    sizes = [[0] * bins for _ in range(bins)]
    boxes = unreadable = odd = 0
    total = sum(os.path.getsize(shard.path) for shard in found.shards)
    with Progress("Reading", total, "B", scale=True) as progress:
        for shard in found.shards:
            for read in tolerant_reader.scan(shard.path):
                features = _features(read)
                if features is None or read.payload is None:
                    unreadable += 1
                    continue
                progress.update(len(read.payload))
                splits[shard.split] = splits.get(shard.split, 0) + 1
                names = _names(features, label_map)
                for name in names:
                    if len(classes) < _CLASSES_KEPT:
                        classes[name, shard.split] += 1
                found_boxes = example_rules.boxes(features)
                boxes += len(found_boxes)
                odd += sum(not _bin(box, sizes) for box in found_boxes)
                _choose(chosen, count, features, names, shard.path, read.offset)
    totals: Counter[str] = collections.Counter()
    for (name, _), number in classes.items():
        totals[name] += number
    images = [
        _shown(example_rules.parse(tolerant_reader.read_at(path, offset)), label_map)
        for path, offset in _round_robin(chosen, totals, count)
    ]
    return Gathered(images, dict(classes), sizes, splits, boxes, unreadable, odd)


def _features(read):
    if read.payload is None:
        return None
    try:
        return example_rules.parse(read.payload)
    except ValueError:
        return None


def _names(features, label_map):
    """The class name of each object, as people read it."""
    texts = [
        item.decode("utf-8", "replace")
        for item in example_rules.values(features, example_rules.TEXTS, example_rules.BYTES)
    ]
    if label_map is None:
        return texts or [f"class {number}" for number in example_rules.class_ids(features)]
    ids = example_rules.class_ids(features, label_map)
    unknown = texts if texts else [f"class {number}" for number in ids]
    return [label_map.names.get(number, f"{name} (not in the label map)") for number, name in zip(ids, unknown)]


def _bin(box, sizes):
    """Count the box by its sides; False if it is none that lies in an image."""
    if not all(map(math.isfinite, box)) or min(box) < -1e-6 or max(box) > 1 + 1e-6:
        return False
    width, height = box[2] - box[0], box[3] - box[1]
    if width <= 0 or height <= 0:
        return False
    row, column = (
        min(max(int((OCTAVES + math.log(side, 2)) * BINS_PER_OCTAVE), 0), len(sizes) - 1) for side in (height, width)
    )
    sizes[row][column] += 1
    return True


def _choose(chosen, count, features, names, path, offset):
    """Keep, for each class in the image, the count places with the smallest hashes."""
    identity = example_rules.text(features, example_rules.SOURCE_ID) or f"{os.path.basename(path)} {offset}"
    rank = int.from_bytes(hashlib.blake2b(identity.encode("utf-8"), digest_size=8).digest(), "big")
    for name in set(names) or {""}:
        if name not in chosen and len(chosen) >= _CLASSES_KEPT:
            continue
        heap = chosen.setdefault(name, [])
        # A heap has its smallest on top: negated, that is the largest, the one to give up first.
        heapq.heappush(heap, (-rank, path, offset))
        if len(heap) > count:
            heapq.heappop(heap)


def _round_robin(chosen, totals, count):
    """Places from one class after the other, the most frequent first, each place once."""
    queues = [
        sorted(chosen[name], key=lambda item: (-item[0], item[1:]))
        for name in sorted(chosen, key=lambda name: (-totals[name], name))
    ]
    places: List[Tuple[str, int]] = []
    while len(places) < count and any(queues):
        for queue in queues:
            while queue:
                _, path, offset = queue.pop(0)
                if (path, offset) not in places:
                    places.append((path, offset))
                    break
            if len(places) == count:
                break
    return places


def _shown(features, label_map):
    encoded = example_rules.values(features, example_rules.ENCODED, example_rules.BYTES)
    kind, masks = features.get(example_rules.MASKS, (None, ()))
    boxes, names = example_rules.boxes(features), _names(features, label_map)
    size = example_rules.stated_size(features)
    if kind == example_rules.FLOATS:
        area = size[0] * size[1] if size and min(size) > 0 else 0
        masks = [masks[start : start + area] for start in range(0, len(masks), area)] if area else []
    names += ["no class"] * (len(boxes) - len(names))
    return Shown(
        example_rules.text(features, example_rules.SOURCE_ID),
        encoded[0] if encoded else b"",
        boxes,
        names,
        list(masks),
        size,
    )
