"""TFRecord files and tf.train.Example messages, without TensorFlow.

A TFRecord file is a row of records: length (uint64, little endian), masked CRC-32C of the length, the bytes,
masked CRC-32C of the bytes.
"""

import functools
import hashlib
import os
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from common.errors import DataError
from data_prep.tfrecord import crc32c

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
HEADER_BYTES = _LENGTH.size + _CRC.size
CRC_BYTES = _CRC.size
OVERHEAD_BYTES = HEADER_BYTES + CRC_BYTES


def masked_crc(data: bytes) -> int:
    """The masked CRC-32C of data."""
    return crc32c.masked(crc32c.value(data))


def crc_bytes(data: bytes) -> bytes:
    """The masked CRC-32C of data as it stands in a file."""
    return _CRC.pack(masked_crc(data))


def length_in(header: bytes) -> Optional[int]:
    """The length of a record's payload as its header (HEADER_BYTES) says, None where the checksum denies it."""
    length = header[: _LENGTH.size]
    return _LENGTH.unpack(length)[0] if header[_LENGTH.size :] == crc_bytes(length) else None


def _frame(payload):
    """The bytes that one record takes in a file, in three parts; the second is the payload itself."""
    length = _LENGTH.pack(len(payload))
    return length + crc_bytes(length), payload, crc_bytes(payload)


class RecordError(DataError):
    """A TFRecord file is damaged; says which file and at which byte."""

    def __init__(self, path: str, offset: int, what: str):
        super().__init__(
            f"{path} is damaged at byte {offset}: {what}.",
            "Convert the dataset again, or copy the file again from where it is whole.",
        )
        self.args = (path, offset, what)  # what copying between processes calls __init__ with


def _read_header(file, path, offset):
    """The length of the record at offset, or None at the end of the file."""
    header = file.read(HEADER_BYTES)
    if not header:
        return None
    if len(header) < HEADER_BYTES:
        raise RecordError(path, offset, "the file ends inside a record's header")
    length = length_in(header)
    if length is None:
        raise RecordError(path, offset, "the checksum of a record's length does not match, so this may be no TFRecord")
    return length


def read(path: str) -> Iterator[bytes]:
    """The payload of each record, both checksums verified.

    Raises:
        RecordError: the file is damaged.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        offset = 0
        while True:
            length = _read_header(file, path, offset)
            if length is None:
                return
            end = offset + OVERHEAD_BYTES + length
            if end > size:
                raise RecordError(path, offset, f"a record of {length} bytes goes past the end of the file")
            payload = file.read(length)
            if file.read(CRC_BYTES) != crc_bytes(payload):
                raise RecordError(path, offset, "the checksum of a record does not match")
            yield payload
            offset = end


def count(path: str) -> int:
    """The number of records, from the headers alone: payloads are stepped over.

    Raises:
        RecordError: the file is damaged.
    """
    size = os.path.getsize(path)
    records = 0
    with open(path, "rb") as file:
        offset = 0
        while True:
            length = _read_header(file, path, offset)
            if length is None:
                return records
            offset += OVERHEAD_BYTES + length
            if offset > size:
                raise RecordError(path, offset - OVERHEAD_BYTES - length, "the last record is cut off")
            file.seek(offset)
            records += 1


class Written(NamedTuple):
    """What a Writer left on disk."""

    sha256: str
    bytes: int
    examples: int


class Writer:
    """Write records to a file; `written` says, when it is closed, what is in it.

    The caller gives a temporary name, and syncs and renames once everything that belongs together is whole.
    """

    def __init__(self, path: str):
        self._file = open(path, "wb")
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._examples = 0
        self.written = Written("", 0, 0)

    def write(self, payload: bytes) -> None:
        for part in _frame(payload):
            self._file.write(part)
            self._hash.update(part)
        self._bytes += len(payload) + OVERHEAD_BYTES
        self._examples += 1

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()
        self.written = Written(self._hash.hexdigest(), self._bytes, self._examples)


# Protobuf's wire format: every field here is its number with the wire type 2 in one byte, a length, and bytes.
_FIRST, _SECOND, _THIRD = b"\x0a", b"\x12", b"\x1a"
_SMALL_VARINTS = [bytes((value,)) for value in range(128)]


def encode(features: Dict[str, Any]) -> bytes:
    """Serialise features as a tf.train.Example; the same features give the same bytes.

    The bytes are those of protobuf's deterministic serialisation; made here they take less time, and the image is
    copied once.

    Args:
        features: {key: values}, values Floats, PackedFloats, Ints or Texts; text is given as str and stored as UTF-8.

    Raises:
        struct.error: a number is none that its type holds.
        OverflowError: likewise.
    """
    entries = []
    for key in sorted(features):
        values = features[key]
        content = values.parts()
        entries.append(_head(key, values.field, sum(map(len, content))))
        entries += content
    return b"".join([_FIRST, _varint(sum(map(len, entries)))] + entries) if entries else b""


@functools.lru_cache(maxsize=4096)  # few lengths occur, but for those of images
def _head(key, field, length):
    """What stands before a feature's content: an entry of the map, its key, and the beginning of its value."""
    # An empty list is still a list: without it an example without boxes would lose its keys' types.
    value = field + _varint(length)
    entry = b"".join(_field(key.encode("utf-8")) + [_SECOND, _varint(len(value) + length), value])
    return b"".join((_FIRST, _varint(len(entry) + length), entry))


def _field(content):
    return [_FIRST, _varint(len(content)), content]


def _varint(value):
    """A number from 0 to 2**64 - 1 in groups of seven bits, lowest first."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes(groups) + _SMALL_VARINTS[value] if groups else _SMALL_VARINTS[value]


class Floats(list):
    """A feature of 32-bit floats."""

    field = _SECOND  # of tensorflow.Feature

    def parts(self) -> List[bytes]:
        return _run(struct.pack(f"<{len(self)}f", *self))


class PackedFloats(bytes):
    """A feature of 32-bit floats as they lie in memory, little endian: for masks, which have as many as pixels."""

    field = _SECOND

    def parts(self) -> List[bytes]:
        return _run(self)


class Ints(list):
    """A feature of 64-bit integers."""

    field = _THIRD

    def parts(self) -> List[bytes]:
        unsigned = struct.unpack(f"<{len(self)}Q", struct.pack(f"<{len(self)}q", *self))
        return _run(b"".join(map(_varint, unsigned)))


class Texts(list):
    """A feature of byte strings."""

    field = _FIRST

    def parts(self) -> List[bytes]:
        found = []
        for value in self:
            found += _field(value.encode("utf-8") if isinstance(value, str) else value)
        return found


def _run(numbers):
    """A list's numbers as one field; none at all where there are none, as protobuf does it."""
    return _field(numbers) if numbers else []


def decode(payload: bytes) -> Dict[str, List[Any]]:
    """The features of a serialised tf.train.Example as {key: list}.

    Raises:
        ValueError: payload is none.
    """
    from data_prep.tfrecord.example_proto import parse  # and with it protobuf, for those who read

    example = parse(payload)
    kinds = ((key, feature, feature.WhichOneof("kind")) for key, feature in example.features.feature.items())
    return {key: list(getattr(feature, kind).value) if kind else [] for key, feature, kind in kinds}
