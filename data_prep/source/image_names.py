"""The names that annotations give their images: paths of this machine or another, URLs, with either slash.

Files are compared by the parts of their paths, from the end. Folders that only say what kind of thing lies in them
(images, Annotations) may differ: tools put them in or leave them out. All other folders have to be the same: an image
of the same name in another folder is another image.
"""

import re
import unicodedata
from typing import NamedTuple, Tuple
from urllib.parse import unquote, urlsplit

_URL = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+://")
_DRIVE = re.compile(r"^[a-zA-Z]:(?=/|$)")
_KINDS = frozenset(
    "image images img imgs jpegimages jpegs jpgs picture pictures photos frames raw data obj_train_data default "
    "annotation annotations annots annot ann anns label labels xml xmls json jsons txt image_2 label_2".split()
)


class Name(NamedTuple):
    """parts: folders and file name, in NFC. foreign: a URL, or a path that begins at the root of some machine."""

    parts: Tuple[str, ...]
    foreign: bool

    @property
    def path(self) -> str:
        return "/".join(self.parts)


def read(text: str) -> Name:
    """The Name in what an annotation says: `a.jpg`, `train\\\\a.jpg`, `C:\\\\data\\\\a.jpg`, `https://host/a%20b.jpg`."""
    text = unicodedata.normalize("NFC", text.strip())
    foreign = bool(_URL.match(text))
    if foreign:
        text = unquote(urlsplit(text).path)
    text = text.replace("\\", "/")
    without_drive = _DRIVE.sub("", text)
    foreign = foreign or without_drive != text or text.startswith("/")
    parts, above = _resolved(without_drive)
    return Name(parts, foreign or above)


def _resolved(path):
    """(parts without `.` and `..`, whether it leads above where it begins)."""
    parts, above = [], False
    for part in path.split("/"):
        if part == "..":
            above = above or not parts
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts), above


def is_tail(short: Tuple[str, ...], long: Tuple[str, ...]) -> bool:
    """Whether a path ends in the parts of another."""
    return bool(short) and len(short) <= len(long) and long[-len(short) :] == short


def without_kinds(parts: Tuple[str, ...]) -> Tuple[str, ...]:
    """The parts without folders that only say what kind of thing is in them."""
    return tuple(part for part in parts[:-1] if part.casefold() not in _KINDS) + parts[-1:]
