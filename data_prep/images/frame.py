"""In which frame an annotation's numbers stand: of the stored image or the upright one, of which size, in which unit.

What is stated decides. Where that leaves two readings the image is refused with both, and options decide.
"""

from typing import TYPE_CHECKING, NamedTuple, Optional, Tuple

from data_prep.images.boxes import TOLERANCE_PIXELS, Box
from data_prep.images.boxes import turn as turn_box
from data_prep.wording import box_text, size_text

if TYPE_CHECKING:
    from data_prep.images.normalize import UprightJpeg
    from data_prep.source.annotation import Annotation

Size = Tuple[int, int]
UPRIGHT, STORED = "upright", "stored"
UNITS = {"pixels": None, "fraction": 1.0, "percent": 100.0}


class Frame(NamedTuple):
    """scale: what x and y are multiplied by. orientation: Exif's, by which boxes then turn; 1 where they do not.

    stored: (width, height) that boxes are in after scaling, before they turn. note: what was unusual, or "".
    """

    scale: Tuple[float, float]
    orientation: int
    stored: Size
    note: str = ""

    def place(self, box: Box) -> Box:
        """The box in pixels of the upright image."""
        x, y = self.scale
        if (x, y) != (1.0, 1.0):
            box = Box(box.xmin * x, box.ymin * y, box.xmax * x, box.ymax * y)
        return turn_box(box, self.orientation, *self.stored)


def of(annotation: "Annotation", image: "UprightJpeg", exif: str = "") -> Frame:
    """The Frame of an annotation on its image.

    Args:
        annotation: what is stated.
        image: decoded and upright.
        exif: UPRIGHT or STORED where what is stated of other images, or an option, says how Exif orientations were
            treated; else "".

    Raises:
        ValueError: it cannot be told; the text says why.
    """
    upright = (image.width, image.height)
    stored = upright if image.orientation < 5 else (image.height, image.width)
    claimed = (annotation.width, annotation.height) if annotation.width > 0 and annotation.height > 0 else None
    if image.orientation == 1:
        turned = False
    else:
        turned = _turned(claimed, stored, upright, exif, image.orientation)
    frame = Frame((1.0, 1.0), image.orientation if turned else 1, stored if turned else upright)
    return _scaled(frame, annotation, claimed)


def _turned(claimed: Optional[Size], stored: Size, upright: Size, exif: str, orientation: int) -> bool:
    """Whether boxes are drawn on the stored image, and so turn with it."""
    fits_stored = claimed is not None and alike(claimed, stored)
    fits_upright = claimed is not None and alike(claimed, upright)
    if fits_stored != fits_upright:
        return fits_stored
    if exif:
        return exif == STORED
    raise ValueError(
        f"its Exif orientation is {orientation}, and nothing says whether boxes were drawn on the stored image or on "
        "the upright one (--exif stored or --exif upright does)"
    )


def _scaled(frame: Frame, annotation: "Annotation", claimed: Optional[Size]) -> Frame:
    whole = UNITS[annotation.unit]
    if whole is not None:
        return frame._replace(scale=(frame.stored[0] / whole, frame.stored[1] / whole))
    if claimed is None or claimed == frame.stored:
        return frame
    if not alike(claimed, frame.stored):
        raise ValueError(
            f"the annotation says {size_text(claimed)}, the image is {size_text(frame.stored)}, and the sides differ "
            "by unlike factors"
        )
    beyond = _beyond(annotation, claimed)
    if beyond:
        raise ValueError(
            f"the annotation says {size_text(claimed)}, the image is {size_text(frame.stored)}, and the box "
            f"{box_text(beyond)} leaves the first: boxes may be in either"
        )
    scale = (frame.stored[0] / claimed[0], frame.stored[1] / claimed[1])
    note = f"the annotation says {size_text(claimed)}, the image is {size_text(frame.stored)}: boxes were scaled"
    return frame._replace(scale=scale, note=note)


def _beyond(annotation, size):
    """The first box that leaves an image of this size, or None."""
    for item in annotation.objects:
        if item.box and (item.box.xmax > size[0] + TOLERANCE_PIXELS or item.box.ymax > size[1] + TOLERANCE_PIXELS):
            return item.box
    return None


def alike(one: Size, other: Size) -> bool:
    """Whether two sizes have the same shape, where each side of the smaller was rounded to a pixel, up or down."""
    return abs(one[0] * other[1] - one[1] * other[0]) <= max(one + other)


def evidence(claimed: Size, stored: Size) -> str:
    """What the size that an annotation claims says of the treatment of Exif orientations.

    Args:
        claimed: (width, height) of the annotation.
        stored: of the image file, whose orientation lays it on its side (5 to 8).

    Returns:
        UPRIGHT or STORED; "" where it says neither.
    """
    fits_stored, fits_upright = alike(claimed, stored), alike(claimed, stored[::-1])
    if fits_stored == fits_upright or not all(claimed):
        return ""
    return STORED if fits_stored else UPRIGHT
