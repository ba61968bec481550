"""Any image file becomes an upright RGB JPEG, which every input pipeline decodes the same way.

The content decides, never the name: the Oxford pets have PNGs and GIFs called .jpg. A JPEG that is already
upright RGB and whole keeps its bytes.
"""

import contextlib
import io
import re
import warnings
from typing import NamedTuple, Optional, Tuple

from PIL import Image, ImageOps

from data_prep.wording import first_line

UNKNOWN = "not an image Pillow knows"  # of what is no image, as the end of a sentence
# What people have and Pillow does not read, by how the file begins: (at byte, bytes, what it is and what to do).
_NOT_READ = (
    (4, b"ftyphei", "HEIC, which is not read: convert it to JPEG or PNG"),
    (4, b"ftyphev", "HEIC, which is not read: convert it to JPEG or PNG"),
    (4, b"ftypmif1", "HEIC, which is not read: convert it to JPEG or PNG"),
    (4, b"ftypavif", "AVIF, which is not read: convert it to JPEG or PNG"),
    (0, b"version https://git-lfs", "a pointer of Git LFS, not the file: fetch it with git lfs pull"),
    (0, b"%PDF", "PDF, which is not read: convert its pages to JPEG or PNG"),
    (0, b"<", "markup, a web page or an SVG, not an image"),
)
_ORIENTATION = 0x0112
_JPEG_QUALITY = 95
_MAGIC = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
)
# JPEG, ITU-T T.81, annex B: in entropy-coded data a 0xff is stuffed with 0x00 or begins a restart marker.
_START_OF_IMAGE, _END_OF_IMAGE = b"\xff\xd8", b"\xff\xd9"
_BASELINE_FRAMES, _HUFFMAN_TABLES, _SCAN = (0xC0, 0xC1), 0xC4, 0xDA
_MARKER_IN_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7]")
_HEAD_OF_SCAN_BYTES = 256


class UprightJpeg(NamedTuple):
    """An upright RGB JPEG."""

    encoded: bytes
    width: int
    height: int
    orientation: int  # of the stored image, 1-8 as in Exif; 1 is upright
    changed: Optional[str]  # why the bytes are not the file's own, None if they are


def load(data: bytes, damaged: bool = False) -> UprightJpeg:
    """The UprightJpeg in an image file.

    Args:
        data: the file's bytes.
        damaged: the caller knows that the JPEG is decodable but broken, so it is written anew.

    Raises:
        ValueError: data cannot be decoded to the end; the text says why.
    """
    if not data:
        raise ValueError("the image file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _load(data, damaged)
    # Pillow raises nearly every built-in exception on damaged files; each means: not usable.
    except Exception as error:
        raise ValueError(
            f"the image cannot be decoded ({_kind_not_read(data) or first_line(error, UNKNOWN)})"
        ) from error


def _kind_not_read(data):
    return next((what for at, begin, what in _NOT_READ if data[at : at + len(begin)] == begin), None)


def _load(data, damaged):
    start = _single_scan(data)
    if start is not None:
        with contextlib.suppress(Exception):  # then the whole says why
            image = _unchanged(data, data[: start + _HEAD_OF_SCAN_BYTES] + _END_OF_IMAGE, damaged, "L")
            if image:
                return image
    return _unchanged(data, data, damaged, "RGB") or _written_anew(data, damaged)


def _unchanged(data, to_decode, damaged, mode):
    """The UprightJpeg of a whole upright RGB JPEG, of which only to_decode is decoded; None if it has to change.

    mode: "L" is faster, and not every kind of JPEG can be decoded to it.
    """
    image = Image.open(io.BytesIO(to_decode))
    if _why_change(image, _orientation(image), damaged):
        return None
    width, height = image.size
    # At an eighth of the size, which is faster and reads the same stream.
    image.draft(mode, (max(1, width // 8), max(1, height // 8)))
    image.load()
    return UprightJpeg(data, width, height, 1, None)


def _written_anew(data, damaged):
    image = Image.open(io.BytesIO(data))
    orientation = _orientation(image)
    reason = _why_change(image, orientation, damaged)
    upright = _rgb(ImageOps.exif_transpose(image) if orientation != 1 else image)
    out = io.BytesIO()
    upright.save(out, "JPEG", quality=_JPEG_QUALITY)
    return UprightJpeg(out.getvalue(), upright.width, upright.height, orientation, reason)


def _single_scan(data):
    """Where the scan of a baseline JPEG begins that goes on, unbroken, to the end of data; None for all others.

    Such a JPEG is neither cut nor interrupted, and its head shows the rest: what libjpeg refuses is in the headers
    and tables, or a scan that never ends; damage inside entropy-coded data is a warning to it, and it goes on. So
    only the head is decoded, in a sixth of the time. Every other image is decoded to its last row.
    """
    if not (data.startswith(_START_OF_IMAGE) and data.endswith(_END_OF_IMAGE)):
        return None
    at, components = 2, None
    while at + 10 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], data[at + 2] * 256 + data[at + 3]
        if marker in _BASELINE_FRAMES:
            components = data[at + 9]
        elif marker == _SCAN:
            start = at + 2 + length
            end = _MARKER_IN_SCAN.search(data, start)
            whole = end is not None and end.start() == len(data) - len(_END_OF_IMAGE)
            return start if whole and data[at + 4] == components else None
        elif 0xC0 <= marker <= 0xCF and marker != _HUFFMAN_TABLES:
            return None
        at += 2 + length
    return None


def sniff(head: bytes) -> Optional[str]:
    """The format that the first bytes of a file announce ("JPEG", "PNG", ...), None if they are no image's."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def sniff_file(path: str) -> Optional[str]:
    """`sniff` of a file; None too if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return sniff(file.read(16))
    except OSError:
        return None


def size_on_its_side(path: str) -> Optional[Tuple[int, int]]:
    """(width, height) as stored, of an image file that Exif's orientation lays on its side (5 to 8); None of others."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as image:
                return image.size if _orientation(image) >= 5 else None
    except Exception:  # whatever is wrong with it is told when it is converted
        return None


def _why_change(image, orientation, damaged):
    if image.format != "JPEG":
        return f"{image.format} inside"
    if image.mode != "RGB":
        return f"JPEG of mode {image.mode}"
    if orientation != 1:
        return f"turned (Exif orientation {orientation})"
    return "damaged but decodable JPEG" if damaged else None


def _orientation(image):
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    # Broken Exif data says nothing about the image itself.
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
