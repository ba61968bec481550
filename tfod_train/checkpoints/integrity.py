"""Is a checkpoint whole? Answered from its files alone, without TensorFlow, by the checksums it carries.

A checkpoint of TensorFlow's V2 saver is PREFIX.index, a LevelDB table (tensorflow/core/lib/io/format.h) from each
variable's name to a BundleEntryProto (tensor_bundle.proto), and PREFIX.data-NNNNN-of-NNNNN, the values in a row.
TensorFlow writes the index under its final name and verifies a value only when it restores it, so what a killed or
crashed process left is found in the middle of a start, or not until somebody restores.
"""

import os
import re
import struct
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from data_prep.tfrecord import crc32c

_FOOTER_BYTES = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER_BYTES = 5  # compression type, masked CRC-32C of block and type
_UNCOMPRESSED = 0
_DT_STRING = 7
_NOT_AS_BYTES = (_DT_STRING, 20, 21)  # string, resource, variant: their checksum is not that of the bytes on disk
_CHUNK_BYTES = 4 * 2**20
_NAME = re.compile(r"model\.ckpt-(\d+)\.index$")
_verdicts: Dict[str, Any] = {}


class Entry(NamedTuple):
    """Where a variable's values are: `size` bytes from `offset` in shard number `shard`, with their CRC-32C."""

    name: str
    dtype: int
    shape: Tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc: int


class Index(NamedTuple):
    """Content of PREFIX.index."""

    shards: int
    entries: List[Entry]

    @property
    def data_bytes(self) -> int:
        return sum(entry.size for entry in self.entries)


class Torn(Exception):
    """A checkpoint that cannot be restored; the text is half a sentence that says why."""


def steps(folder: str) -> List[int]:
    """Steps of all model.ckpt-STEP.index files in a folder, whole or not, ascending."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(int(match.group(1)) for match in map(_NAME.match, names) if match)


def read_index(prefix: str) -> Index:
    """The Index of the checkpoint `prefix`; costs milliseconds.

    Raises:
        Torn: there is none, or it cannot be read.
    """
    try:
        with open(prefix + ".index", "rb") as source:
            data = source.read()
        return _parse(data)
    except FileNotFoundError as error:
        raise Torn("it has no .index file") from error
    except OSError as error:
        raise Torn(f"its .index cannot be read ({error.strerror})") from error
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise Torn("its .index is damaged") from error


def shard_paths(prefix: str, shards: int) -> List[str]:
    return [f"{prefix}.data-{number:05d}-of-{shards:05d}" for number in range(shards)]


def check_extent(prefix: str) -> Index:
    """The Index, after making sure that every shard is there and long enough.

    Raises:
        Torn: one is not, or the index cannot be read.
    """
    index = read_index(prefix)
    if not index.shards:
        raise Torn("its .index is damaged")
    needed = [0] * index.shards
    for entry in index.entries:
        if not 0 <= entry.shard < index.shards:
            raise Torn("its .index is damaged")
        needed[entry.shard] = max(needed[entry.shard], entry.offset + entry.size)
    for path, size in zip(shard_paths(prefix, index.shards), needed):
        try:
            there = os.path.getsize(path)
        except FileNotFoundError as error:
            raise Torn(f"{os.path.basename(path)} is missing") from error
        if there < size:
            raise Torn(f"{os.path.basename(path)} has {there} of {size} bytes")
    return index


def check_values(prefix: str) -> None:
    """Reads all values and compares their checksums; takes as long as reading the files once.

    Raises:
        Torn: one does not match, or a file is not there, too short or cannot be read.
    """
    index = check_extent(prefix)
    paths = shard_paths(prefix, index.shards)
    for number, path in enumerate(paths):
        try:
            with open(path, "rb") as shard:
                for entry in sorted((one for one in index.entries if one.shard == number), key=lambda one: one.offset):
                    if entry.dtype not in _NOT_AS_BYTES and _crc_of(shard, entry) != entry.crc:
                        raise Torn(f"the checksum of {entry.name} does not match")
        except OSError as error:
            raise Torn(f"{os.path.basename(path)} cannot be read ({error.strerror})") from error


def problem(prefix: str, values: bool = False) -> Optional[str]:
    """Why a checkpoint cannot be restored, as half a sentence; None where it can.

    Args:
        prefix: its path without .index.
        values: also compare the checksums of all values. The answer is kept while the files stay as they are.
    """
    try:
        if not values:
            check_extent(prefix)
            return None
        state = _state(prefix)
        if _verdicts.get(prefix, (None, None))[0] != state:
            _verdicts[prefix] = (state, None)
            check_values(prefix)
        return _verdicts[prefix][1]
    except Torn as torn:
        if values:
            _verdicts[prefix] = (_state(prefix), str(torn))
        return str(torn)


def files_of(prefix: str) -> List[str]:
    """Paths of the files that belong to a checkpoint."""
    folder, name = os.path.split(prefix)
    kinds = re.compile(re.escape(name) + r"\.(index|meta|data-\d+-of-\d+)$")
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    return [os.path.join(folder, one) for one in sorted(names) if kinds.match(one)]


def _state(prefix):
    """Changes when the files do."""
    state = []
    for path in files_of(prefix):
        try:
            stat = os.stat(path)
        except FileNotFoundError:
            continue
        state.append((path, stat.st_size, stat.st_mtime_ns, stat.st_ino))
    return tuple(state)


def _crc_of(shard, entry):
    shard.seek(entry.offset)
    crc, left = 0, entry.size
    while left:
        chunk = shard.read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise Torn(f"it ends inside of {entry.name}")
        crc = crc32c.extend(crc, chunk)
        left -= len(chunk)
    return crc32c.masked(crc)


def _parse(data):
    if len(data) < _FOOTER_BYTES:
        raise Torn(f"its .index has only {len(data)} bytes")
    footer = data[-_FOOTER_BYTES:]
    if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise Torn("its .index is cut off or no index")
    _, at = _handle(footer, 0)  # of the meta index, which is empty
    top, _ = _handle(footer, at)
    shards, entries = 0, []
    for _, handle in _pairs(_block(data, *top)):
        for key, value in _pairs(_block(data, *_handle(handle, 0)[0])):
            if not key:
                shards = _fields(value).get(1, [0])[0]
            else:
                entries.append(_entry(key.decode("utf-8", "replace"), value))
    return Index(shards, entries)


def _entry(name, value):
    fields = _fields(value)

    def one(number: int) -> Any:
        return fields.get(number, [0])[0]

    shape = tuple(_fields(dimension).get(1, [0])[0] for dimension in _fields(fields.get(2, [b""])[0]).get(2, []))
    return Entry(name, one(1), shape, one(3), one(4), one(5), one(6))


def _block(data, offset, size):
    block, trailer = data[offset : offset + size], data[offset + size : offset + size + _TRAILER_BYTES]
    if len(block) < size or len(trailer) < _TRAILER_BYTES or trailer[0] != _UNCOMPRESSED:
        raise Torn("its .index is damaged")
    if struct.unpack("<I", trailer[1:])[0] != crc32c.masked(crc32c.value(block + trailer[:1])):
        raise Torn("the checksum of its .index does not match")
    return block


def _pairs(block):
    """(key, value) of a block: each key gives how many bytes it shares with the one before."""
    restarts = struct.unpack("<I", block[-4:])[0]
    end = len(block) - 4 - 4 * restarts
    at, key = 0, b""
    while at < end:
        shared, at = _varint(block, at)
        own, at = _varint(block, at)
        length, at = _varint(block, at)
        key = key[:shared] + block[at : at + own]
        at += own
        yield key, block[at : at + length]
        at += length


def _handle(data, at):
    offset, at = _varint(data, at)
    size, at = _varint(data, at)
    return (offset, size), at


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """Fields of a protobuf message by number: lists of int and bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = struct.unpack("<Q" if kind == 1 else "<I", data[at : at + size])[0], at + size
        else:
            raise Torn("its .index is damaged")
        fields.setdefault(key >> 3, []).append(value)
    return fields
