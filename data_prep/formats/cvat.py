"""CVAT's own formats: "CVAT for images", an <image> each, and "CVAT for video", a <track> for each object.

A rotated box becomes the upright one around it. Other shapes than boxes are told of and left out.
"""

import functools
import os
from typing import Any, Dict, List, Sequence

from data_prep.images import frame
from data_prep.images.boxes import Box, hull
from data_prep.source import annotation as annotations
from data_prep.source.annotation import Annotation, Object, rotated_note, whole
from data_prep.source.reading import Entry, entry

ROOT = "annotations"
# Its pages show images as browsers do: turned as Exif says.
EXIF = frame.UPRIGHT
_SIDES = ("xtl", "ytl", "xbr", "ybr")
_NO_SHAPES = ("tag",)
# What CVAT calls the images of a video: frame_000000 and so on.
_FRAME = "frame_"
_MOST_FRAMES = 1000000


def entries(root: Any, path: str, name: str) -> List[Entry]:
    """The Entries of a file.

    Args:
        root: its root element, <annotations>.
        path: of the file.
        name: of the file, relative to the source.
    """
    contents = _contents(root)
    folder = os.path.dirname(name)
    return [
        entry(
            image,
            f"{name}, {image}",
            content,
            annotation=functools.partial(_again, path, position),
            folder=folder,
            group=name,
            optional=not content.objects and image.startswith(_FRAME),
        )
        for position, (image, content) in enumerate(contents)
    ]


def _contents(root):
    """[(image's name, Annotation)] of images, then of a video's frames."""
    found = [(image.get("name") or "", _of_image(image)) for image in root.findall("image")]
    return found + _of_video(root)


@functools.lru_cache(maxsize=1)
def _contents_of(path):
    return _contents(annotations.parse_xml(path))


def _again(path, position):
    return _contents_of(path)[position][1]


def _of_image(image):
    objects = [_object(shape, shape.get("label")) for shape in image if shape.tag not in _NO_SHAPES]
    return Annotation(whole(image.get("width")), whole(image.get("height")), objects, image.get("name") or "")


def _of_video(root):
    """The frames that the file says to be in the video, and those that a track is in; CVAT calls them frame_000000."""
    tracks = root.findall("track")
    if not tracks:
        return []
    size = root.find(".//original_size")
    width, height = (whole(size.findtext(side)) if size is not None else 0 for side in ("width", "height"))
    frames: Dict[int, List[Object]] = {number: [] for number in range(_frames_of(root))}
    for track in tracks:
        for shape in track:
            there = frames.setdefault(whole(shape.get("frame")), [])
            if shape.get("outside") != "1":
                there.append(_object(shape, track.get("label")))
    return [(f"{_FRAME}{number:06d}", Annotation(width, height, objects)) for number, objects in sorted(frames.items())]


def _frames_of(root):
    return min(whole(root.findtext(".//task/size") or root.findtext(".//job/size")), _MOST_FRAMES)


def _object(shape, label):
    box, problem, notes = _box(shape)
    truncated = whole(shape.get("occluded"))
    return Object(box, (label or "").strip(), truncated=truncated, problem=problem, notes=notes)


def _box(shape):
    """(box or None, why there is none, notes)."""
    if shape.tag != "box":
        return None, f"a shape is a {shape.tag}, which is no box", ()
    try:
        box = Box(*(float(shape.get(side)) for side in _SIDES))
        degrees = float(shape.get("rotation") or 0)
    except (TypeError, ValueError):
        return None, "", ()
    return (hull(box, degrees), "", (rotated_note(degrees),)) if degrees else (box, "", ())


def exif(names: Sequence[str]) -> Dict[str, str]:
    """What Reading.exif says of files with these names."""
    return dict.fromkeys(names, EXIF)
