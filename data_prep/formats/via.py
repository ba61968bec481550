"""The VGG Image Annotator's JSON (version 1 and 2): rectangles, polygons, circles and ellipses."""

import math
import posixpath
from argparse import ArgumentParser
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from common.errors import DataError
from data_prep.images.boxes import Box, around
from data_prep.source import arguments, planning, splits
from data_prep.source.annotation import Annotation, Object
from data_prep.source.reading import Entry, Reading, entry, json_of, number, of_folder
from data_prep.wording import some
from data_prep.writer import dataset

_KIND = planning.Kind("via", "via")
_PROJECT = "_via_img_metadata"


class Options(NamedTuple):
    """planning.Options, and attribute: the region attribute that holds the class; None where there is one alone."""

    attribute: Optional[str] = None
    label_map: Optional[str] = None
    shards: Optional[int] = None
    split: splits.Choice = splits.Choice()
    masks: str = "none"
    exif: Optional[str] = None
    coordinates: Optional[str] = None


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep via`."""
    arguments.add_all(
        parser,
        "images, and VIA's JSON beside them or elsewhere below it",
        "the classes in the data, sorted",
        "files or folders called train, val and test",
    )
    parser.add_argument("--attribute", metavar="NAME", help="the region attribute that is the class")


def plan(source_dir: str, name: str, options: Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no annotations, or several attributes; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir, options.attribute), options, _KIND)


def read(source_dir: str, attribute: Optional[str] = None) -> Reading:
    """The Reading of a folder; attribute: as Options."""
    found = of_folder(source_dir, ".json", _images, "JSON of VIA")
    attributes = {key for _, image in found.entries for region in _regions(image) for key in _attributes(region)}
    chosen = _attribute(attributes, attribute, source_dir)
    entries = [_entry(name, image, chosen) for name, image in found.entries]
    return Reading(entries, f"{found.digest} {chosen}", foreign=found.foreign)


def images_of(content: Any) -> Optional[List[Dict[str, Any]]]:
    """The images that a VIA file holds; None of what is something else."""
    if isinstance(content, dict) and isinstance(content.get(_PROJECT), dict):
        content = content[_PROJECT]
    if not isinstance(content, dict) or not content:
        return None
    images = list(content.values())
    known = all(isinstance(image, dict) and "filename" in image and "regions" in image for image in images)
    return images if known else None


def _regions(image):
    regions = image["regions"]
    found = list(regions.values()) if isinstance(regions, dict) else regions
    return [region for region in found if isinstance(region, dict)] if isinstance(found, list) else []


def _part(region, key) -> Dict[str, Any]:
    value = region.get(key)
    return value if isinstance(value, dict) else {}


def _attributes(region) -> Dict[str, Any]:
    return _part(region, "region_attributes")


def _images(name, content) -> Optional[List[Tuple[str, Dict[str, Any]]]]:
    """(file, image) of each image in a file."""
    images = images_of(json_of(content))
    return None if images is None else [(name, image) for image in images]


def _attribute(attributes, wanted, where) -> str:
    if wanted and wanted not in attributes:
        raise DataError(
            f"No region in {where} has the attribute {wanted}; there is {', '.join(sorted(attributes)) or 'none'}.",
            "Correct --attribute.",
        )
    if not wanted and len(attributes) != 1:
        names = sorted(attributes)
        raise DataError(
            f"The regions in {where} have {some(names, len(names), 5) or 'no attribute'}: which is the class?",
            "Name it: --attribute NAME." if names else "Give the regions an attribute with their class.",
        )
    return wanted or next(iter(attributes))


def _entry(name, image, attribute) -> Entry:
    return entry(
        str(image["filename"]),
        f"{name}, {image['filename']}",
        Annotation(0, 0, [_object(region, attribute) for region in _regions(image)]),
        folder=posixpath.dirname(name),
        split=splits.of_path(name),
        group=name,
    )


def _object(region, attribute):
    value = _attributes(region).get(attribute, "")
    if isinstance(value, dict):  # a check box: its marked choices
        marked = [key for key, on in value.items() if on]
        value = marked[0] if len(marked) == 1 else ""
    shape = _part(region, "shape_attributes")
    kind = str(shape.get("name"))
    if kind not in _SHAPES:
        return Object(None, str(value).strip(), problem=f"a shape is a {kind}, which is no box")
    try:
        return Object(_SHAPES[kind](shape), str(value).strip())
    except (KeyError, TypeError, ValueError):
        return Object(None, str(value).strip())


def _rectangle(shape):
    x, y, width, height = (number(shape[key]) for key in ("x", "y", "width", "height"))
    return Box(x, y, x + width, y + height)


def _polygon(shape):
    return around(zip(map(number, shape["all_points_x"]), map(number, shape["all_points_y"])))


def _circle(shape):
    x, y, radius = (number(shape[key]) for key in ("cx", "cy", "r"))
    return Box(x - radius, y - radius, x + radius, y + radius)


def _ellipse(shape):
    x, y, wide, high = (number(shape[key]) for key in ("cx", "cy", "rx", "ry"))
    angle = number(shape.get("theta", 0))
    across = math.hypot(wide * math.cos(angle), high * math.sin(angle))
    down = math.hypot(wide * math.sin(angle), high * math.cos(angle))
    return Box(x - across, y - down, x + across, y + down)


_SHAPES = {"rect": _rectangle, "polygon": _polygon, "circle": _circle, "ellipse": _ellipse}
