"""Any TFRecord file read to its end, whatever is wrong in it; `codec.read` stops at the first damage instead."""

import os
from typing import Any, Iterator, NamedTuple, Optional

from data_prep.tfrecord import codec

# Damages, as `check.problems.KINDS` names them.
CHECKSUM, BROKEN_LENGTH, CUT_OFF = "checksum", "broken-length", "cut-off"

_SNIFF_BYTES = 512
_MAGIC = (
    (b"\x1f\x8b", "a gzip file; the API reads TFRecords that are not compressed: unpack it with gzip -dc FILE >NEW"),
    (b"\x78\x9c", "a zlib stream; the API reads TFRecords that are not compressed: write it again without compression"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format", "an SQLite database"),
)


class Read(NamedTuple):
    """What lies at a byte offset of a file: a payload, or a damage (then payload is None)."""

    offset: int
    payload: Optional[bytes]
    damage: Optional[str] = None
    lost_bytes: int = 0  # what cannot be read because of it


def scan(path: str, digest: Any = None) -> Iterator[Read]:
    """Read each record of a file, both checksums verified, in the order of the file and the memory of one record.

    A damaged payload is passed over and the next record read; after a damaged length nothing more can be found.

    Args:
        path: the file.
        digest: a hashlib object that is given every byte of the file.

    Yields:
        a Read for each record or damage.

    Raises:
        OSError: the file cannot be read.
    """
    left = os.path.getsize(path)
    hashed = digest.update if digest is not None else lambda data: None
    with open(path, "rb") as file:
        while left:
            offset = file.tell()
            header = file.read(codec.HEADER_BYTES)
            hashed(header)
            if len(header) < codec.HEADER_BYTES:
                yield Read(offset, None, CUT_OFF, left)
                return
            length = codec.length_in(header)
            if length is None or length + codec.OVERHEAD_BYTES > left:
                for rest in iter(lambda: file.read(1 << 20), b""):
                    hashed(rest)
                yield Read(offset, None, BROKEN_LENGTH if length is None else CUT_OFF, left)
                return
            payload, crc = file.read(length), file.read(codec.CRC_BYTES)
            hashed(payload)
            hashed(crc)
            left -= length + codec.OVERHEAD_BYTES
            if crc == codec.crc_bytes(payload):
                yield Read(offset, payload)
            else:
                yield Read(offset, None, CHECKSUM, length)


def read_at(path: str, offset: int) -> bytes:
    """The payload of the record that `scan` found whole at offset."""
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(codec.length_in(file.read(codec.HEADER_BYTES)))


def foreign(path: str) -> Optional[str]:
    """What the file is, in words, when its first bytes say that it is no TFRecord; else None."""
    with open(path, "rb") as file:
        head = file.read(_SNIFF_BYTES)
    if len(head) >= codec.HEADER_BYTES and codec.length_in(head[: codec.HEADER_BYTES]) is not None:
        return None
    for magic, words in _MAGIC:
        if head.startswith(magic):
            return words
    if head[257:262] == b"ustar":
        return "a tar archive"
    if head and not head.strip(b"\0"):
        return "nothing but zeros, as a copy leaves that did not end"
    return _text_kind(head.lstrip(b"\xef\xbb\xbf \t\r\n"))


def _text_kind(head):
    if head.lower().startswith((b"<!doctype html", b"<html")):
        return "a web page"
    if head.startswith(b"<"):
        return "XML"
    if head.startswith((b"{", b"[")):
        return "JSON"
    return "a label map" if head.startswith(b"item") else None
