"""COCO instances JSON to TFRecords: boxes, and masks from polygons, run lengths (RLE) and crowds.

Features are those of the API's create_coco_tf_record.py. Category ids become 1, 2, 3, ... in their order, because
the API's models have num_classes outputs: COCO's own ids have gaps. The JSON is read whole, as pycocotools does.
"""

import functools
import glob
import hashlib
import importlib
import json
import math
import os
from argparse import ArgumentParser
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from common.errors import DataError, UsageError
from data_prep.formats import annotation as annotations
from data_prep.formats import arguments
from data_prep.formats.annotation import Annotation, Object
from data_prep.formats.class_names import ids_of, refuse_unknown
from data_prep.formats.class_names import read as read_label_map
from data_prep.formats.image_index import ImageIndex, fingerprint_of, is_text
from data_prep.formats.splits import Choice
from data_prep.images import example_features
from data_prep.images.boxes import Box
from data_prep.writer import dataset

_CONVERTER_VERSION = 1
_PREFIX = "coco"
_KEYS = ("images", "annotations", "categories")
_OTHER_JSON = ("captions", "person_keypoints", "image_info", "stuff")  # what COCO's own archives hold beside them
# pycocotools draws each edge of a polygon point by point, which far outside of an image takes memory without end.
_FARTHEST_PIXEL = 100000.0


class Options(NamedTuple):
    """annotations: paths of one JSON, or of those of train and val; () to look for them.

    masks: one of arguments.MASKS. label_map: a file, or None for the categories of the data. shards: None for
    dataset.shards_for.
    """

    annotations: Sequence[str] = ()
    masks: str = "none"
    label_map: Optional[str] = None
    shards: Optional[int] = None
    split: Choice = Choice()


class Entry(NamedTuple):
    """An image: the dict in "images" and the dicts in "annotations" that belong to it."""

    image: Dict[str, Any]
    annotations: List[Dict[str, Any]]


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep coco`."""
    arguments.add_source(parser, "the images, anywhere below it")
    parser.add_argument(
        "--annotations",
        nargs="+",
        default=(),
        metavar="JSON",
        help="one file, or train's and val's (default: those in DIR or DIR/annotations)",
    )
    arguments.add_masks(parser)
    arguments.add_label_map(parser, "the categories in the order of their ids")
    arguments.add_split(parser, "upstream is one JSON for train and one for val (default where there are two)")


class Converter:
    """Turn an image's id into an Outcome."""

    def __init__(
        self,
        entries: Dict[str, Entry],
        category_names: Dict[int, str],
        index: ImageIndex,
        recipe: example_features.Recipe,
    ):
        self._entries = entries
        self._category_names = category_names
        self._index = index
        self._recipe = recipe

    def __call__(self, image_id: str) -> dataset.Outcome:
        image, found = self._entries[image_id]
        try:
            annotation = Annotation(
                annotations.whole(image.get("width")),
                annotations.whole(image.get("height")),
                [_object(item, image, self._category_names) for item in found],
            )
            name = find_image(self._index, image)
            data = example_features.read_file(os.path.join(self._index.root, name))
            outcome = example_features.convert(
                example_features.Source(image["file_name"], image_id, data), annotation, self._recipe
            )
        except ValueError as reason:
            outcome = dataset.Outcome(None, skipped=str(reason))
        return outcome._replace(file=image["file_name"])


def plan(source_dir: str, name: str, options: Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        UsageError: the options make no sense.
        DataError: there is no such JSON, or it has unknown classes.
    """
    paths = _find_json(source_dir, options.annotations)
    digest = hashlib.sha256()
    contents = [_read(path, digest) for path in paths]
    category_names = _category_names(paths, contents)
    splits_by_file = [_entries(path, content, category_names) for path, content in zip(paths, contents)]
    entries = _unique(paths, splits_by_file)
    classes = _classes(category_names, entries, options.label_map, source_dir)
    if options.masks != "none":
        importlib.import_module("data_prep.images.masks")  # here, so that the processes that convert share one numpy
    index = ImageIndex(source_dir)
    located = [f"{image_id} {_located(index, entries[image_id].image)}\n" for image_id in sorted(entries)]
    digest.update("".join(located).encode("utf-8"))
    splits, upstream = _splits(paths, splits_by_file, options.split)
    shards = options.shards or dataset.shards_for(splits)
    chosen = dict(
        {"masks": options.masks, "label_map": options.label_map, "shards": shards}, **options.split.options(upstream)
    )
    return dataset.Plan(
        name=name,
        classes=classes,
        prefix=_PREFIX,
        splits=splits,
        convert=Converter(
            entries, category_names, index, example_features.Recipe(ids_of(classes), options.masks, coco=True)
        ),
        shards=shards,
        fingerprint=dict(
            chosen,
            format="coco",
            converter=_CONVERTER_VERSION,
            classes=list(classes),
            splits=[[split.name, len(split.ids)] for split in splits],
            source_sha256=digest.hexdigest(),
        ),
        extra={
            "boxes": "annotated",
            "masks": None if options.masks == "none" else options.masks,
            "shards": shards,
            "category_ids": {name: number for number, name in category_names.items()},
        },
        command=("coco", dict({"source": source_dir}, **chosen)),
        config=example_features.config_fields(options.masks),
        unused=[_images_without_entry(index, entries)],
    )


def _splits(paths, splits_by_file, choice):
    """(train and val, whether they are the source's own)."""
    upstream = len(paths) == 2 and choice.upstream is not False
    if choice.upstream and not upstream:
        raise DataError(
            f"{paths[0]} alone has no split of its own.",
            "Leave out --split upstream, or give two with --annotations TRAIN.json VAL.json.",
        )
    if upstream:
        return [dataset.Split(split, list(found)) for split, found in zip(("train", "val"), splits_by_file)], True
    return choice.by_seed(sorted(image_id for found in splits_by_file for image_id in found)), False


def find_image(index: ImageIndex, image: Dict[str, Any]) -> str:
    """The image's name relative to the source: by path, else by name in any folder.

    Raises:
        ValueError: there is none; the text says why.
    """
    return index.find(os.path.splitext(os.path.normpath(image["file_name"]))[0])


def _located(index, image):
    try:
        name = find_image(index, image)
    except ValueError as reason:
        return fingerprint_of(reason)
    return f"{name} {os.path.getsize(os.path.join(index.root, name))}"


def _images_without_entry(index, entries):
    used = set()
    for entry in entries.values():
        try:
            used.add(find_image(index, entry.image))
        except ValueError:
            pass
    return dataset.Unused(index.unused(used), "not in the JSON")


def _find_json(source_dir, named):
    """[the JSON] or [train's, val's]."""
    if len(named) > 2:
        raise UsageError("--annotations takes one JSON, or one for train and one for val.", "Name one or two files.")
    if not os.path.isdir(source_dir):
        raise DataError(f"There is no folder {source_dir}.", "Name the folder that holds images and annotations.")
    if named:
        return list(named)
    found = sorted(
        path
        for folder in (source_dir, os.path.join(source_dir, "annotations"))
        for path in glob.glob(os.path.join(glob.escape(folder), "*.json"))
        if not os.path.basename(path).startswith(_OTHER_JSON)
    )
    if len(found) == 1:
        return found
    train, val = ([path for path in found if word in os.path.basename(path).lower()] for word in ("train", "val"))
    if len(found) == 2 and len(train) == len(val) == 1 and train != val:
        return train + val
    raise DataError(
        f"{source_dir} and its annotations/ hold {', '.join(map(os.path.basename, found[:5])) or 'no JSON'}, "
        "not one JSON or one for train and one for val.",
        "Name them: --annotations TRAIN.json VAL.json, or a single one.",
    )


def _read(path, digest):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).", "Correct --annotations or the file.") from error
    digest.update(hashlib.sha256(data).digest())
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON ({error}).", "Export it again.") from error
    if not isinstance(content, dict) or not all(_dicts(content.get(key)) for key in _KEYS):
        raise DataError(
            f"{path} is no COCO instances file: {', '.join(_KEYS)} have to be lists of objects.",
            "Give the instances JSON: captions and results have another form.",
        )
    return content


def _dicts(value):
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _category_names(paths, contents):
    """{category id: name} of all files, in the order of the ids. Raises DataError where the files disagree."""
    found: Dict[int, str] = {}
    for path, content in zip(paths, contents):
        for category in content["categories"]:
            number, name = category.get("id"), category.get("name")
            if not _is_id(number) or not _is_name(name):
                raise DataError(f"{path} has a category without id or name.", 'Correct its "categories".')
            if found.setdefault(number, name.strip()) != name.strip():
                raise DataError(
                    f"Category {number} is {found[number]} and {name}.", "Give each category one name, in all files."
                )
    if not found:
        raise DataError(f"{paths[0]} names no category.", 'Correct its "categories".')
    if len(set(found.values())) < len(found):
        raise DataError(f"{paths[0]} gives one name to two categories.", 'Correct its "categories".')
    return {number: found[number] for number in sorted(found)}


def _is_id(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_name(value):
    return isinstance(value, str) and bool(value.strip()) and is_text(value)


def _entries(path, content, category_names):
    """{image id as text: Entry} in the file's order. Raises DataError where ids do not fit together."""
    entries: Dict[str, Entry] = {}
    for image in content["images"]:
        number, name = image.get("id"), image.get("file_name")
        if not (_is_id(number) or _is_name(number)) or not _is_name(name):
            raise DataError(f"{path} has an image without id or file_name.", 'Correct its "images".')
        if str(number) in entries:
            raise DataError(
                f"{path} gives the image id {number} to {entries[str(number)].image['file_name']} and {name}.",
                "Give each image an id of its own.",
            )
        entries[str(number)] = Entry(image, [])
    for item in content["annotations"]:
        entry, number = entries.get(str(item.get("image_id"))), item.get("category_id")
        if entry is None:
            raise DataError(
                f"{path} has an annotation (id {item.get('id')}) of an image {item.get('image_id')} that it "
                "does not list.",
                'Correct its "images" or "annotations".',
            )
        if not _is_id(number) or number not in category_names:
            raise DataError(
                f"{path} has an annotation (id {item.get('id')}) of a category {number} that it does not list.",
                'Correct its "categories" or "annotations".',
            )
        entry.annotations.append(item)
    if not entries:
        raise DataError(f"{path} lists no image.", "Export it again.")
    return entries


def _unique(paths, splits_by_file):
    """All entries. Raises DataError where train and val share an image id."""
    entries = dict(splits_by_file[0])
    for found in splits_by_file[1:]:
        shared = sorted(set(entries) & set(found))
        if shared:
            raise DataError(
                f"{paths[0]} and {paths[1]} both have the image id {shared[0]}.",
                "Give each image an id of its own: evaluation counts images by it.",
            )
        entries.update(found)
    return entries


def _classes(category_names, entries, label_map_path, source_dir):
    """The names of the map; without one all categories, in the order of their ids."""
    if label_map_path is None:
        return tuple(category_names.values())
    classes = read_label_map(label_map_path)
    used = {category_names[item["category_id"]] for entry in entries.values() for item in entry.annotations}
    refuse_unknown(used, classes, source_dir)
    return classes


def _object(item, image, category_names):
    box = _box(item.get("bbox"))
    area = item.get("area")
    if not _is_number(area):
        area = (box.xmax - box.xmin) * (box.ymax - box.ymin) if box else 0.0
    mask = functools.partial(draw_mask, item.get("segmentation"), image) if item.get("segmentation") else None
    return Object(
        box,
        category_names[item["category_id"]],
        mask=mask,
        crowd=int(item.get("iscrowd") in (1, True)),
        area=float(area),
    )


def _box(value):
    """The Box of [x, y, width, height] in pixels, or None if it is no such list."""
    if not isinstance(value, list) or len(value) != 4 or not all(map(_is_number, value)):
        return None
    x, y, width, height = map(float, value)
    return Box(x, y, x + width, y + height)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15


def draw_mask(segmentation: Any, image: Dict[str, Any]) -> Any:
    """The mask of an object.

    Args:
        segmentation: of its annotation.
        image: of "images" in the JSON.

    Returns:
        boolean array (height, width), sides as the JSON says: True inside of a polygon or a run of an RLE.

    Raises:
        ValueError: it is broken, which pycocotools does not check: it would write past the end. The text says how.
    """
    from PIL import Image
    from pycocotools import mask as coco_masks

    width, height = annotations.whole(image.get("width")), annotations.whole(image.get("height"))
    if not 0 < width * height <= Image.MAX_IMAGE_PIXELS:
        raise ValueError("a mask needs the image's width and height in the JSON")
    if isinstance(segmentation, list):
        runs = coco_masks.merge(coco_masks.frPyObjects(_polygons(segmentation), height, width))
    else:
        runs = coco_masks.frPyObjects(_uncompressed(segmentation, width, height), height, width)
    return coco_masks.decode(runs).astype(bool)


def _polygons(segmentation):
    for polygon in segmentation:
        points = isinstance(polygon, list) and len(polygon) >= 6 and len(polygon) % 2 == 0
        if not points or not all(map(_is_number, polygon)):
            raise ValueError("a polygon is no list of at least three points")
        if any(not math.isfinite(value) or abs(value) > _FARTHEST_PIXEL for value in polygon):
            raise ValueError("a polygon has a point far outside of the image")
    # Two points would be taken for a box by pycocotools; four numbers were refused above.
    return [list(map(float, polygon)) for polygon in segmentation]


def _uncompressed(segmentation, width, height):
    """{"size", "counts"} with counts as a list that covers the image exactly. Raises ValueError."""
    if not isinstance(segmentation, dict) or segmentation.get("size") != [height, width]:
        raise ValueError("a mask's run lengths are for an image of another size")
    counts = segmentation.get("counts")
    if isinstance(counts, str):
        counts = expand_counts(counts)
    if (
        not isinstance(counts, list)
        or not all(_is_id(count) and count >= 0 for count in counts)
        or sum(counts) != width * height
    ):
        raise ValueError("a mask's run lengths do not add up to the image's pixels")
    return {"size": [height, width], "counts": counts}


def expand_counts(text: str) -> List[int]:
    """The run lengths in COCO's compressed form (maskApi.c, rleFrString).

    Five bits a character, lowest first, 32 for "goes on", then the difference to the run before the last one.

    Raises:
        ValueError: text is none.
    """
    counts: List[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise ValueError("a mask's run lengths cannot be read")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        if len(counts) > 2:
            value += counts[-2]
        counts.append(value)
        value, shift = 0, 0
    if shift:
        raise ValueError("a mask's run lengths cannot be read")
    return counts
