"""COCO instances JSON to TFRecords: boxes, and masks from polygons, run lengths (RLE) and crowds.

Features are those of the API's create_coco_tf_record.py. Category ids become 1, 2, 3, ... in their order, because
the API's models have num_classes outputs: COCO's own ids have gaps. Each JSON is read whole, as pycocotools does.
"""

import functools
import hashlib
import importlib
import json
import os
import posixpath
import re
from argparse import ArgumentParser
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from common.errors import DataError
from common.progress import Progress
from data_prep.images import coco_masks
from data_prep.images.boxes import Box
from data_prep.source import annotation as annotations
from data_prep.source import arguments, planning, splits
from data_prep.source.annotation import Annotation, Object
from data_prep.source.image_index import is_text, visible_files
from data_prep.source.reading import Entry, Problem, Reading, refuse_no_folder
from data_prep.writer import dataset

_KIND = planning.Kind("coco", "coco", coco=True)
_KEYS = ("images", "annotations", "categories")
_OTHER_JSON = ("captions", "person_keypoints", "image_info", "stuff")  # what COCO's own archives hold beside them
_WHOLE = re.compile(r"([-+]?\d+)\.0*$")


class Options(NamedTuple):
    """planning.Options, and annotations: paths of JSON files; () to look for them."""

    annotations: Sequence[str] = ()
    label_map: Optional[str] = None
    shards: Optional[int] = None
    split: splits.Choice = splits.Choice()
    masks: str = "none"
    exif: Optional[str] = None
    coordinates: Optional[str] = None


class File(NamedTuple):
    """A JSON: its name for people, the folder that names in it are seen from, and its content."""

    name: str
    folder: str
    content: Dict[str, Any]


class Image(NamedTuple):
    """What "images" says of one, and the items of "annotations" that belong to it."""

    image: Dict[str, Any]
    items: List[Dict[str, Any]]


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep coco`."""
    arguments.add_all(
        parser,
        "the images, anywhere below it",
        "the categories in the order of their ids",
        "one JSON for each of train, val and test, by their names or folders",
    )
    parser.add_argument(
        "--annotations",
        nargs="+",
        default=(),
        metavar="JSON",
        help="the files, such as train's and val's (default: all instances files below DIR)",
    )
    arguments.add_masks(parser)


def plan(source_dir: str, name: str, options: Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        UsageError: the options make no sense.
        DataError: there is no such JSON, or it has unknown classes; more is said at planning.plan.
    """
    if options.masks != "none":
        importlib.import_module("data_prep.images.masks")  # here, so that the processes that convert share one numpy
    reading = read(source_dir, options.annotations, options.masks != "none")
    return planning.plan(source_dir, name, reading, options._replace(annotations=()), _KIND)


def read(source_dir: str, named: Sequence[str], masks: bool) -> Reading:
    """The Reading of a folder.

    Args:
        source_dir: with the images.
        named: paths of JSON files; none for those below source_dir.
        masks: whether they are wanted.

    Raises:
        DataError: a file is no instances file, or files contradict each other.
    """
    found, foreign, digest = _files(source_dir, named, masks)
    names = _category_names(found)
    problems: List[Problem] = []
    by_file = [_images(file, names, problems) for file in found]
    shared = _shared_ids(by_file)
    entries = [
        _entry(file, image, names, masks)._replace(
            id=f"{posixpath.splitext(file.name)[0]}:{image_id}" if image_id in shared else image_id,
            split=splits.of_path(file.name),
        )
        for file, images in zip(found, by_file)
        for image_id, image in images.items()
    ]
    category_ids = {name: int(key) if _is_whole(key) else key for key, name in names.items()}
    return Reading(
        entries,
        digest,
        classes=tuple(names.values()),
        problems=problems,
        foreign=foreign,
        extra={"category_ids": category_ids},
    )


def _shared_ids(by_file):
    """Ids that several files use: each numbers its own images."""
    seen, shared = set(), set()
    for images in by_file:
        shared |= seen & set(images)
        seen |= set(images)
    return shared


def _files(source_dir, named, masks) -> Tuple[List[File], List[str], str]:
    """(instances files, JSON files that are something else, a checksum)."""
    refuse_no_folder(source_dir)
    paths = list(named) or [
        os.path.join(source_dir, name)
        for name in visible_files(source_dir, ".json")
        if not os.path.basename(name).startswith(_OTHER_JSON)
    ]
    digest = hashlib.sha256()
    found, foreign = [], []
    with Progress("Reading annotations", len(paths), "files") as progress:
        for path in paths:
            relative = os.path.relpath(path, source_dir)
            inside = not relative.startswith(os.pardir)
            content = _read(path, digest, bool(named), masks)
            if content is None:
                foreign.append(relative)
            else:
                folder = os.path.dirname(relative) if inside else ""
                found.append(File(relative if inside else path, folder, content))
            progress.update(1)
    if not found:
        raise DataError(
            f"{source_dir} holds no COCO instances JSON{_instead(foreign)}.",
            "Name the files: --annotations TRAIN.json VAL.json, or a single one.",
        )
    return found, foreign, digest.hexdigest()


def _instead(foreign):
    return f", but {', '.join(foreign[:5])}" if foreign else ""


def _read(path, digest, strict, masks):
    """The content of an instances file, without segmentations where no masks are wanted, as these are most of it.

    None of what is something else, unless strict.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).", "Correct --annotations or the file.") from error
    digest.update(hashlib.sha256(data).digest())
    try:
        text = data.decode("utf-8-sig")
        del data
        content = json.loads(text, object_hook=None if masks else _without_segmentation)
        del text
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON ({error}).", "Export it again.") from error
    if is_instances(content):
        return content
    if not strict and not (isinstance(content, dict) and "categories" in content):
        return None
    raise DataError(
        f"{path} is no COCO instances file: {', '.join(_KEYS)} have to be lists of objects.",
        "Give the instances JSON: captions and results have another form.",
    )


def _without_segmentation(item):
    item.pop("segmentation", None)
    return item


def is_instances(content: Any) -> bool:
    """Whether this is what an instances file holds."""
    return isinstance(content, dict) and all(_dicts(content.get(key)) for key in _KEYS)


def _dicts(value):
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _key(value: Any) -> str:
    """An id as text: 1, 1.0, "1" and "1.0" are the same, as tools write ids as all of these; "" where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    text = str(value).strip()
    whole = _WHOLE.match(text)
    return (whole.group(1) if whole else text) if is_text(text) else ""


def _is_whole(key):
    return re.match(r"-?\d+$", key) is not None


def _in_order(key):
    """Numbers in their order, then words in theirs."""
    return (0, int(key), "") if _is_whole(key) else (1, 0, key)


def _category_names(found: Sequence[File]) -> Dict[str, str]:
    """{category id as text: name} of all files, in the order of the ids. Raises DataError where the files disagree."""
    names: Dict[str, str] = {}
    for file in found:
        for category in file.content["categories"]:
            key, name = _key(category.get("id")), category.get("name")
            if not key or not _is_name(name):
                raise DataError(f"{file.name} has a category without id or name.", 'Correct its "categories".')
            if names.setdefault(key, name.strip()) != name.strip():
                raise DataError(
                    f"Category {key} is {names[key]} and {name}.", "Give each category one name, in all files."
                )
    if not names:
        raise DataError(f"{found[0].name} names no category.", 'Correct its "categories".')
    if len(set(names.values())) < len(names):
        raise DataError(f"{found[0].name} gives one name to two categories.", 'Correct its "categories".')
    return {key: names[key] for key in sorted(names, key=_in_order)}


def _is_name(value):
    return isinstance(value, str) and bool(value.strip()) and is_text(value)


def _images(file: File, names: Dict[str, str], problems: List[Problem]) -> Dict[str, Image]:
    """{image id: Image} in the file's order; what is of no use becomes a Problem."""
    images: Dict[str, Image] = {}
    for position, image in enumerate(file.content["images"]):
        key = _key(image.get("id"))
        if not key or not _is_name(image.get("file_name")):
            problems.append(Problem(f"{file.name}, images[{position}]", "an image without id or file_name"))
        elif key in images and images[key].image["file_name"] != image["file_name"]:
            raise DataError(
                f"{file.name} gives the image id {key} to {images[key].image['file_name']} and {image['file_name']}.",
                "Give each image an id of its own.",
            )
        else:
            images.setdefault(key, Image(image, []))
    for position, item in enumerate(file.content["annotations"]):
        reason = _useless(item, images, names)
        if reason:
            number = item.get("id", f"number {position + 1}")
            problems.append(Problem(f"{file.name}, annotation {number}", reason))
        else:
            images[_key(item.get("image_id"))].items.append(item)
    if not images:
        raise DataError(f"{file.name} lists no image.", "Export it again.")
    return images


def _useless(item, images, names):
    if _key(item.get("image_id")) not in images:
        return f"it is of an image {item.get('image_id')} that the file does not list"
    if _key(item.get("category_id")) not in names:
        return f"it is of a category {item.get('category_id')} that no file lists"
    return ""


def _entry(file, image, names, masks):
    boxes = [_box(item.get("bbox")) for item in image.items]
    return Entry(
        image.image["file_name"],
        f"{file.name}, image {image.image['id']}",
        functools.partial(_annotation, image, names, masks),
        classes=tuple({names[_key(item["category_id"])] for item in image.items}),
        largest=max((max(box) for box in boxes if box), default=0.0),
        size=_size(image),
        folder=file.folder,
        group=file.name,
    )


def _annotation(image, names, masks):
    size = _size(image)
    return Annotation(size[0], size[1], [_object(item, size, names, masks) for item in image.items])


def _size(image):
    return annotations.whole(image.image.get("width")), annotations.whole(image.image.get("height"))


def _object(item, size, names, masks):
    box = _box(item.get("bbox"))
    area = item.get("area")
    if not _is_number(area):
        area = (box.xmax - box.xmin) * (box.ymax - box.ymin) if box else 0.0
    mask, notes = None, ()
    if masks and item.get("segmentation"):
        segmentation, notes = coco_masks.without_slivers(item["segmentation"])
        mask = functools.partial(coco_masks.draw, segmentation, size)
    return Object(
        box,
        names[_key(item["category_id"])],
        mask=mask,
        crowd=int(item.get("iscrowd") in (1, True)),
        area=float(area),
        notes=notes,
    )


def _box(value):
    """The Box of [x, y, width, height] in pixels, or None if it is no such list."""
    if not isinstance(value, list) or len(value) != 4 or not all(map(_is_number, value)):
        return None
    x, y, width, height = map(float, value)
    return Box(x, y, x + width, y + height)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15
