"""LabelMe's JSON files, one an image: rectangles, polygons and circles; polygons give masks, too."""

import functools
import posixpath
from argparse import ArgumentParser
from typing import Any, List, Optional

from data_prep.images import coco_masks, frame
from data_prep.images.boxes import Box, around
from data_prep.source import arguments, planning
from data_prep.source.annotation import Annotation, Object, whole
from data_prep.source.reading import Entry, Reading, entry, json_of, number, of_folder
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("labelme", "labelme")


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep labelme`."""
    arguments.add_all(
        parser,
        "images, and LabelMe's JSON files beside them or elsewhere below it",
        "the labels in the data, sorted",
        "folders called train, val and test",
    )
    arguments.add_masks(parser)


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no annotations; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir), options, _KIND)


def read(source_dir: str) -> Reading:
    """The Reading of a folder."""
    found = of_folder(source_dir, ".json", _entries, "JSON of LabelMe")
    # LabelMe turns images as Exif says before it shows them.
    return Reading(found.entries, found.digest, foreign=found.foreign, exif={"labelme": frame.UPRIGHT})


def is_labelme(content: Any) -> bool:
    """Whether this is what a LabelMe file holds."""
    return isinstance(content, dict) and isinstance(content.get("shapes"), list) and "imagePath" in content


def _entries(name, content) -> Optional[List[Entry]]:
    found = json_of(content)
    if not is_labelme(found):
        return None
    width, height = whole(found.get("imageWidth")), whole(found.get("imageHeight"))
    objects = [_object(shape, width, height) for shape in found["shapes"] if isinstance(shape, dict)]
    folder = posixpath.dirname(name)
    image = str(found["imagePath"] or "")
    return [
        entry(
            name[: -len(".json")],
            name,
            Annotation(width, height, objects),
            folder=folder,
            others=(posixpath.join(folder, image.replace("\\", "/")), image) if image else (),
            stem=True,
            group="labelme",
        )
    ]


def _object(shape, width, height):
    label = str(shape.get("label") or "").strip()
    kind = str(shape.get("shape_type") or "polygon")  # files of before shape_type have polygons
    try:
        points = [(number(point[0]), number(point[1])) for point in shape["points"]]
        box = _box(kind, points)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        return Object(None, label, problem=str(error) if kind not in _BOXES else "")
    mask = None
    if kind == "polygon":
        flat = [value for point in points for value in point]
        mask = functools.partial(coco_masks.draw, [flat], (width, height))
    return Object(box, label, mask=mask)


_BOXES = ("rectangle", "polygon", "circle")


def _box(kind, points):
    if kind not in _BOXES:
        raise ValueError(f"a shape is a {kind}, which is no box")
    if kind == "circle":
        (x, y), edge = points
        radius = ((edge[0] - x) ** 2 + (edge[1] - y) ** 2) ** 0.5
        return Box(x - radius, y - radius, x + radius, y + radius)
    return around(points)
