"""Any picture file becomes an upright RGB JPEG, which every input pipeline decodes the same way.

The content decides, never the name: the Oxford pets have PNGs and GIFs called .jpg. A JPEG that is already
upright RGB and whole keeps its bytes.
"""

import io
import warnings
from typing import NamedTuple, Optional

from PIL import Image, ImageOps

_ORIENTATION = 0x0112
_JPEG_QUALITY = 95


class Picture(NamedTuple):
    """An upright RGB JPEG."""

    encoded: bytes
    width: int
    height: int
    orientation: int  # of the stored picture, 1-8 as in Exif; 1 is upright
    changed: Optional[str]  # why the bytes are not the file's own, None if they are


def load(data, damaged=False):
    """Return the Picture in data (the bytes of a file).

    damaged: the caller knows that the JPEG is decodable but broken, so it is written anew.
    Raises ValueError, with the reason as its text, if data cannot be decoded to the end.
    """
    if not data:
        raise ValueError("the picture file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _load(data, damaged)
    # Pillow raises nearly every built-in exception on damaged files; each means: not usable.
    except Exception as error:
        raise ValueError("the picture cannot be decoded (%s)" % _first_line(error))


def _load(data, damaged):
    image = Image.open(io.BytesIO(data))
    width, height = image.size
    orientation = _orientation(image)
    reason = _why_change(image, orientation, damaged)
    if reason is None:
        # Reads the whole stream, so that a cut file is found, but at an eighth of the size, which is faster.
        image.draft("RGB", (width // 8, height // 8))
        image.load()
        return Picture(data, width, height, orientation, None)
    upright = _rgb(ImageOps.exif_transpose(image) if orientation != 1 else image)
    out = io.BytesIO()
    upright.save(out, "JPEG", quality=_JPEG_QUALITY)
    return Picture(out.getvalue(), upright.width, upright.height, orientation, reason)


def _why_change(image, orientation, damaged):
    if image.format != "JPEG":
        return "%s inside" % image.format
    if image.mode != "RGB":
        return "JPEG of mode %s" % image.mode
    if orientation != 1:
        return "turned (Exif orientation %d)" % orientation
    return "damaged but decodable JPEG" if damaged else None


def _orientation(image):
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    # Broken Exif data says nothing about the picture itself.
    except Exception:
        return 1
    return value if value in range(1, 9) else 1


def _rgb(image):
    """8-bit RGB; transparency is laid on white, 16-bit gray is scaled instead of cut off at 255."""
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, (255, 255, 255, 255)), rgba).convert("RGB")
    return image.convert("RGB")


def _first_line(error):
    lines = str(error).splitlines() or [type(error).__name__]
    # Pillow names the memory buffer it reads from, which differs from run to run.
    return "not a picture Pillow knows" if "cannot identify" in lines[0] else lines[0]
