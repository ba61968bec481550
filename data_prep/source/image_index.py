"""Finds images below a folder by their stem and content, whatever their extension says."""

import os
import re
import sys
import unicodedata
from typing import Container, Dict, Iterator, List, Optional, Tuple, Union

from data_prep.images import normalize
from data_prep.wording import name_text

_EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp")
# What else people call images: the rest of what Pillow reads, and kinds that it does not read, which have to be named.
_OTHER_IMAGES = frozenset(
    ".jpe .jfif .tif .tiff .jp2 .j2k .jpx .ppm .pgm .pbm .pnm .pcx .tga .ico .dib .sgi .im .dds .apng .icns "
    ".heic .heif .avif .jxl .jxr .svg .pdf .psd .eps .exr .hdr .dcm .cr2 .nef .arw .dng .orf .rw2".split()
)
# Files that annotation tools put beside images, with the same stem.
_NEVER = (".xml", ".json", ".txt", ".csv", ".mat", ".md", ".pbtxt", ".tmp", ".part")
_RECORDS = ".record-"  # a dataset prepared below its own source


class ImageIndex:
    """The files below a folder. Names are compared as Unicode NFC: macOS writes another form than others."""

    def __init__(self, root: str):
        self.root = root
        # {stem: names}, or the extension alone where the stem has one file of that very name: half of the memory
        self._by_stem: Dict[str, Union[str, List[str]]] = {}
        self._ignored: List[str] = []
        # made when a path is not there: each takes as much memory as the rest
        self._by_name: Optional[Dict[str, List[str]]] = None
        self._by_folded: Optional[Dict[str, List[str]]] = None
        for name in visible_files(root):
            stem, extension = os.path.splitext(name)
            if extension.lower() in _NEVER or extension.startswith(_RECORDS) or not is_text(name):
                self._ignored.append(name)
            else:
                key = unicodedata.normalize("NFC", stem)
                self._add(key, stem, extension)

    def _add(self, key, stem, extension):
        if key not in self._by_stem and key == stem:
            self._by_stem[key] = sys.intern(extension)
        else:
            self._by_stem[key] = self._names(key) + [stem + extension]

    def _names(self, key):
        found = self._by_stem.get(key, [])
        return [key + found] if isinstance(found, str) else found

    def find(self, stem: str) -> str:
        """The name, relative to the root, of the image with a stem.

        Where no such path is there, an image of that name in any folder is meant, if there is just one. Of several
        files with one stem the first that holds an image wins, .jpg before .jpeg, .png, .gif, .bmp, .webp and the rest.

        Args:
            stem: a path without extension.

        Raises:
            ValueError: there is none or no single one; the text says which.
        """
        key = unicodedata.normalize("NFC", stem)
        if key not in self._by_stem:
            others = self._of_this_name(os.path.basename(key))
            if not others:
                raise ValueError("no image of this name")
            if len(others) > 1:
                raise ValueError(
                    f"several images of this name: {', '.join((self._names(other)[0] for other in others[:3]))}"
                )
            key = others[0]
        names = self._names(key)
        if len(names) == 1 and _rank(names[0])[0] < len(_EXTENSIONS):
            return names[0]
        names = sorted(names, key=_rank)
        holding = [name for name in names if normalize.sniff_file(os.path.join(self.root, name))]
        if holding:
            return holding[0]
        if _rank(names[0])[0] < len(_EXTENSIONS):
            return names[0]  # it cannot be decoded either, and the reason is worth knowing
        raise ValueError("no image of this name")

    def _of_this_name(self, name):
        """The stems, in any folder, whose last part is this name; sorted."""
        if self._by_name is None:
            self._by_name = {}
            for stem in sorted(self._by_stem):
                self._by_name.setdefault(os.path.basename(stem), []).append(stem)
        return self._by_name.get(name, [])

    def exact(self, path: str) -> Optional[str]:
        """The file at this very path, relative to the root and in NFC, if it holds an image or is called one."""
        stem, extension = os.path.splitext(path)
        for name in self._names(stem) + (self._names(path) if extension else []):
            if unicodedata.normalize("NFC", name) == path and self.is_image(name):
                return name
        return None

    def of_stem(self, stem: str) -> List[str]:
        """The images whose path less its extension is this, in NFC: those that hold one; else those called one."""
        names = sorted(self._names(stem), key=_rank)
        if len(names) == 1 and is_called_image(names[0]):
            return names
        holding = [name for name in names if normalize.sniff_file(os.path.join(self.root, name))]
        return holding or [name for name in names if is_called_image(name)]

    def alike(self, stem: str) -> List[str]:
        """The images in any folder whose last part, less its extension, is that of stem, in any letter case; sorted."""
        if self._by_folded is None:
            self._by_folded = {}
            for each in sorted(self._by_stem):
                self._by_folded.setdefault(os.path.basename(each).casefold(), []).append(each)
        found = self._by_folded.get(os.path.basename(stem).casefold(), [])
        return [name for each in found for name in self._names(each) if self.is_image(name)]

    def is_image(self, name: str) -> bool:
        """Whether a file is called an image, or holds one whatever it is called."""
        return is_called_image(name) or normalize.sniff_file(os.path.join(self.root, name)) is not None

    def folders(self) -> List[str]:
        """The folders, relative to the root, that hold a file called an image; sorted."""
        return sorted({os.path.dirname(key) for key, names in self.items() if any(map(is_called_image, names))})

    def ignored(self) -> List[str]:
        """The files whose name says that they are no images, or is no text."""
        return [name_text(name) for name in self._ignored]

    def unused(self, used: Container[str]) -> List[str]:
        """The images, by their extension, whose names are not in used."""
        return sorted(name for _, names in self.items() for name in names if name not in used and is_called_image(name))

    def items(self) -> Iterator[Tuple[str, List[str]]]:
        """(stem, file names) of everything that may be an image, in the order of the stems' code points."""
        return ((key, self._names(key)) for key in sorted(self._by_stem))


def visible_files(root: str, extension: Optional[str] = None) -> List[str]:
    """The files below root as relative paths, sorted by code point; without dotfiles, and so without `._*`.

    Links to folders are followed, but each folder is read once: under its own path if that is below root.
    """
    found, seen, links = [], set(), [root]
    while links:
        starts, links = sorted(links), []
        for start in starts:
            for folder, folders, names in os.walk(start):
                status = os.stat(folder)
                if (status.st_dev, status.st_ino) in seen:
                    folders[:] = []
                    continue
                seen.add((status.st_dev, status.st_ino))
                folders[:] = [name for name in folders if not name.startswith(".")]
                links += [path for path in (os.path.join(folder, name) for name in folders) if os.path.islink(path)]
                prefix = os.path.relpath(folder, root) + os.sep if folder != root else ""
                found += [
                    prefix + name
                    for name in names
                    if not name.startswith(".") and (extension is None or name.lower().endswith(extension))
                ]
    return sorted(found)


def fingerprint_of(reason: ValueError) -> str:
    """What stands in a checksum of a source for an image that `find` does not find.

    These are the words of the first version, so that what was converted before still counts as complete.
    """
    return re.sub("^(no|several) image", r"\1 picture", str(reason))


def is_called_image(name: str) -> bool:
    """Whether a file's extension is one of images."""
    extension = os.path.splitext(name)[1].lower()
    return extension in _EXTENSIONS or extension in _OTHER_IMAGES


def is_text(name: str) -> bool:
    """Whether a file name is UTF-8: others cannot be written into a record."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _rank(name):
    extension = os.path.splitext(name)[1].lower()
    return _EXTENSIONS.index(extension) if extension in _EXTENSIONS else len(_EXTENSIONS), name
