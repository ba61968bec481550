"""What every annotation format is read into, and Pascal VOC's xml, which labelImg, CVAT and the pets use too."""

import math
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from lxml import etree

from common import files
from data_prep.images.boxes import Box, hull

_LARGEST_NUMBER = 2**31 - 1
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)


class Object(NamedTuple):
    """One object of an image; the box is None if the annotation gives none that can be read.

    mask: a function without arguments that gives a boolean array as large as the annotated image (masks.py), and
    raises ValueError if the annotation's mask is broken. crowd, area: as in COCO. problem: why there is no box.
    notes: what was done to the box, for people.
    """

    box: Optional[Box]
    name: str = ""
    difficult: int = 0
    truncated: int = 0
    pose: str = ""
    mask: Optional[Callable[[], Any]] = None
    crowd: int = 0
    area: float = 0.0
    problem: str = ""
    notes: Tuple[str, ...] = ()


class Annotation(NamedTuple):
    """width and height are what the annotation claims, 0 if it claims nothing; filename is "" then.

    unit: of the boxes, one of data_prep.images.frame.UNITS: "pixels", or shares of the image's sides as "fraction" (0
    to 1) or "percent".
    """

    width: int
    height: int
    objects: List[Object]
    filename: str = ""
    unit: str = "pixels"


def read_xml(path: str) -> Annotation:
    """The Annotation in a Pascal VOC xml.

    Raises:
        ValueError: it is none; the text says why.
    """
    return of_xml(parse_xml(path))


def of_xml(root: Any) -> Annotation:
    """The Annotation in the root element of a Pascal VOC xml.

    Raises:
        ValueError: it is none; the text says why.
    """
    if root.tag != "annotation":
        raise ValueError(f"the xml holds <{root.tag}> instead of <annotation>")
    size = _texts(root.find("size"))
    objects = [_object(node) for node in root.findall("object")]
    return Annotation(
        whole(size.get("width")), whole(size.get("height")), objects, (root.findtext("filename") or "").strip()
    )


def _object(node):
    texts = _texts(node)
    box, problem, notes = _one_box(node)
    return Object(
        box,
        texts.get("name", "").strip(),
        whole(texts.get("difficult")),
        whole(texts.get("truncated")),
        texts.get("pose", "").strip(),
        problem=problem,
        notes=notes,
    )


def _one_box(node):
    """(box or None, why there is none, notes)."""
    boxes = node.findall("bndbox")
    if len(boxes) > 1:
        return None, f"an object has {len(boxes)} boxes (<bndbox>) and one name", ()
    if boxes:
        return _box(_texts(boxes[0])), "", ()
    rotated = node.find("robndbox")  # of roLabelImg
    return _rotated(_texts(rotated)) if rotated is not None else (None, "", ())


def _rotated(texts):
    try:
        x, y, wide, high, radians = (float(texts[key]) for key in ("cx", "cy", "w", "h", "angle"))
    except (KeyError, ValueError):
        return None, "", ()
    box = Box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
    return hull(box, math.degrees(radians)), "", (rotated_note(math.degrees(radians)),)


def rotated_note(degrees: float) -> str:
    """What is told of a rotated box."""
    return f"a box rotated by {degrees:g} degrees became the upright box around it"


def _texts(node):
    """{tag: text} of an element's children, of the first of each, faster than a search for each tag."""
    found: Dict[str, str] = {}
    for child in () if node is None else node:
        found.setdefault(child.tag, child.text or "")
    return found


def parse_xml(path: str) -> Any:
    """The root element of an xml file.

    Raises:
        ValueError: it is no xml or cannot be read; the text says why.
    """
    try:
        return xml_of(files.read(path))
    except OSError as error:
        raise ValueError(f"the xml cannot be read ({error.strerror})") from error


def xml_of(content: bytes) -> Any:
    """The root element of what an xml file holds.

    Raises:
        ValueError: it is no xml; the text says why.
    """
    try:
        return etree.fromstring(content, _PARSER)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"the xml cannot be read ({error})") from error


def _box(texts):
    try:
        return Box(*[float(texts[side]) for side in Box._fields])
    except (KeyError, ValueError):
        return None


def whole(value: Any) -> int:
    """A number between 0 and 2**31 - 1 from what an annotation holds, 0 for anything else."""
    try:
        value = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0
    return int(value) if math.isfinite(value) and 0 <= value <= _LARGEST_NUMBER else 0
