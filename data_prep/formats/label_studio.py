"""Label Studio's JSON and JSON-MIN exports: rectangles in percent of the image, also rotated about their corner."""

import math
import posixpath
import re
from argparse import ArgumentParser
from typing import Any, List, Optional
from urllib.parse import parse_qs, urlsplit

from data_prep.images import frame
from data_prep.images.boxes import Box, around
from data_prep.source import arguments, planning
from data_prep.source.annotation import Annotation, Object, rotated_note, whole
from data_prep.source.reading import Entry, Reading, entry, json_of, number, of_folder
from data_prep.source.splits import of_path
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("label-studio", "label_studio")
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")
_LABELS = ("rectanglelabels", "labels")


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep label-studio`."""
    arguments.add_all(
        parser,
        "images, and Label Studio's JSON or JSON-MIN",
        "the labels in the data, sorted",
        "files or folders called train, val and test",
    )


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no annotations; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir), options, _KIND)


def read(source_dir: str) -> Reading:
    """The Reading of a folder."""
    found = of_folder(source_dir, ".json", _entries, "JSON of Label Studio")
    groups = {each.group for each in found.entries}
    # Its pages show images as browsers do: turned as Exif says.
    return Reading(found.entries, found.digest, foreign=found.foreign, exif=dict.fromkeys(groups, frame.UPRIGHT))


def is_export(content: Any) -> bool:
    """Whether this is a list of tasks, whole or MIN."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(task, dict) and ("annotations" in task or "annotation_id" in task) for task in content)
        and all(_image(task) for task in content)
    )


def _image(task):
    """The image that a task names: the one value of its data that is called image or looks like a path."""
    data = task["data"] if isinstance(task.get("data"), dict) else task
    for key in ("image", "img", "photo", "picture", "url"):
        if isinstance(data.get(key), str):
            return data[key]
    return ""


def _entries(name, content) -> Optional[List[Entry]]:
    tasks = json_of(content)
    if not is_export(tasks):
        return None
    found: List[Entry] = []
    for position, task in enumerate(tasks):
        image = _path(_image(task))
        where = f"{name}, task {task.get('id', position + 1)}"
        for results in _results(task):
            found.append(
                entry(
                    image,
                    where,
                    _annotation(results),
                    folder=posixpath.dirname(name),
                    others=tuple({image, _original(image)} - {image}),
                    split=of_path(name),
                    group=name,
                )
            )
    return found


def _path(text):
    """The path in what a task names: local files stand behind ?d=."""
    query = parse_qs(urlsplit(text).query).get("d")
    return query[0] if query else text


def _original(image):
    """The name that an uploaded image had before."""
    return _UPLOADED.sub("", posixpath.basename(image.replace("\\", "/")))


def _results(task):
    """The results of each annotation of a task that was not cancelled."""
    if not isinstance(task.get("annotations"), list):
        return [next((task[key] for key in task if _is_results(task[key])), [])]
    return [
        each["result"] if isinstance(each.get("result"), list) else []
        for each in task["annotations"]
        if isinstance(each, dict) and not each.get("was_cancelled")
    ]


def _is_results(value):
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "x" in one for one in value)


def _annotation(results):
    """In pixels of the original size, as rectangles may be rotated."""
    objects, size = [], (0, 0)
    for result in results:
        if not isinstance(result, dict) or result.get("type") in ("choices", "textarea", "rating"):
            continue
        size = (whole(result.get("original_width")), whole(result.get("original_height")))
        objects += _objects(result, size)
    return Annotation(size[0], size[1], objects)


def _objects(result, size) -> List[Object]:
    value = result["value"] if isinstance(result.get("value"), dict) else result
    labels = next((value[key] for key in _LABELS if isinstance(value.get(key), list)), [""])
    kind = str(result.get("type", "rectanglelabels"))
    if kind not in ("rectanglelabels", "rectangle", "labels"):
        return [Object(None, str(label), problem=f"a shape is of {kind}, which is no box") for label in labels]
    try:
        box, notes = _box(value, size)
    except (KeyError, ValueError):
        return [Object(None, str(label)) for label in labels]
    return [Object(box, str(label).strip(), notes=notes) for label in labels]


def _box(value, size):
    if not all(size):
        raise ValueError("the original size is not stated")
    x, y, width, height = (
        number(value[key]) * side / 100 for key, side in zip(("x", "y", "width", "height"), size + size)
    )
    degrees = number(value.get("rotation", 0))
    if not degrees:
        return Box(x, y, x + width, y + height), ()
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = [(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)]
    turned = [(x + across * cosine - down * sine, y + across * sine + down * cosine) for across, down in corners]
    return around(turned), (rotated_note(degrees),)
