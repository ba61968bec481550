"""TFRecord files and tf.train.Example messages, without TensorFlow.

A TFRecord file is a row of records: length (uint64, little endian), masked CRC-32C of the length, the bytes,
masked CRC-32C of the bytes. The messages are built from a descriptor made here in a pool of its own, so that
TensorFlow can be imported later in the same process and register the same names.
"""

import hashlib
import os
import struct
from typing import NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from data_prep import crc32c
from data_prep.errors import DataError


_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
HEADER_BYTES = _LENGTH.size + _CRC.size
CRC_BYTES = _CRC.size
OVERHEAD_BYTES = HEADER_BYTES + CRC_BYTES


def masked_crc(data):
    """The masked CRC-32C of data."""
    return crc32c.masked(crc32c.value(data))


def crc_bytes(data):
    """The masked CRC-32C of data as it stands in a file."""
    return _CRC.pack(masked_crc(data))


def length_in(header):
    """The length of a record's payload as its header (HEADER_BYTES) says, None where the checksum denies it."""
    length = header[:_LENGTH.size]
    return _LENGTH.unpack(length)[0] if header[_LENGTH.size:] == crc_bytes(length) else None


def frame(payload):
    """The bytes that one record takes in a file."""
    length = _LENGTH.pack(len(payload))
    return b"".join((length, crc_bytes(length), payload, crc_bytes(payload)))


class RecordError(DataError):
    """A TFRecord file is damaged; says which file and at which byte."""

    def __init__(self, path, offset, what):
        super().__init__("%s is damaged at byte %d: %s." % (path, offset, what),
                         "Convert the dataset again, or copy the file again from where it is whole.")
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
        raise RecordError(path, offset,
                          "the checksum of a record's length does not match, so this may be no TFRecord")
    return length


def read(path):
    """Yield the payload (bytes) of each record, both checksums verified. Raises RecordError."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        offset = 0
        while True:
            length = _read_header(file, path, offset)
            if length is None:
                return
            end = offset + OVERHEAD_BYTES + length
            if end > size:
                raise RecordError(path, offset, "a record of %d bytes goes past the end of the file" % length)
            payload = file.read(length)
            if file.read(CRC_BYTES) != crc_bytes(payload):
                raise RecordError(path, offset, "the checksum of a record does not match")
            yield payload
            offset = end


def count(path):
    """The number of records, from the headers alone: payloads are stepped over. Raises RecordError."""
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
    """Write records to a file, flushed to the disk when closed; `written` then says what is in it.

    The caller gives a temporary name and renames once everything that belongs together is whole.
    """

    def __init__(self, path):
        self._file = open(path, "wb")
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._examples = 0
        self.written = None

    def write(self, payload):
        framed = frame(payload)
        self._file.write(framed)
        self._hash.update(framed)
        self._bytes += len(framed)
        self._examples += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())
        self.written = Written(self._hash.hexdigest(), self._bytes, self._examples)


def _example_class():
    """tf.train.Example as tensorflow/core/example/{feature,example}.proto define it."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="data_prep/example.proto", package="tensorflow",
                                              syntax="proto3")

    def message(name, *fields, parent=None):
        new = parent.nested_type.add(name=name) if parent else file.message_type.add(name=name)
        for number, (field_name, label, kind, type_name) in enumerate(fields, 1):
            new.field.add(name=field_name, number=number, label=label, type=kind, type_name=type_name)
        return new

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    message("BytesList", ("value", many, field.TYPE_BYTES, None))
    message("FloatList", ("value", many, field.TYPE_FLOAT, None))
    message("Int64List", ("value", many, field.TYPE_INT64, None))
    feature = message("Feature",
                      ("bytes_list", one, field.TYPE_MESSAGE, ".tensorflow.BytesList"),
                      ("float_list", one, field.TYPE_MESSAGE, ".tensorflow.FloatList"),
                      ("int64_list", one, field.TYPE_MESSAGE, ".tensorflow.Int64List"))
    feature.oneof_decl.add(name="kind")
    for member in feature.field:
        member.oneof_index = 0
    features = message("Features", ("feature", many, field.TYPE_MESSAGE, ".tensorflow.Features.FeatureEntry"))
    entry = message("FeatureEntry",
                    ("key", one, field.TYPE_STRING, None),
                    ("value", one, field.TYPE_MESSAGE, ".tensorflow.Feature"), parent=features)
    entry.options.map_entry = True
    message("Example", ("features", one, field.TYPE_MESSAGE, ".tensorflow.Features"))

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Example"))


Example = _example_class()


def encode(features):
    """Serialise {key: values} as a tf.train.Example; the same features give the same bytes.

    values: Floats, PackedFloats, Ints or Texts; text is given as str and stored as UTF-8.
    """
    example = Example()
    for key, values in features.items():
        feature = example.features.feature[key]
        if isinstance(values, PackedFloats):
            feature.float_list.MergeFromString(_packed(values))
        elif isinstance(values, Floats):
            feature.float_list.value.extend(values)
        elif isinstance(values, Ints):
            feature.int64_list.value.extend(values)
        else:
            feature.bytes_list.value.extend(
                value.encode("utf-8") if isinstance(value, str) else value for value in values)
        # An empty list is still a list: without this an example without boxes would lose its keys' types.
        if not values:
            getattr(feature, values.kind).SetInParent()
    return example.SerializeToString(deterministic=True)


class Floats(list):
    """A feature of 32-bit floats."""

    kind = "float_list"


class PackedFloats(bytes):
    """A feature of 32-bit floats as they lie in memory, little endian: for masks, which have as many as pixels."""

    kind = "float_list"


def _packed(raw):
    """The serialised FloatList of raw. A packed field is a length and bytes, as a BytesList of one value is."""
    one = Example().features.feature["mask"].bytes_list
    one.value.append(bytes(raw))
    return one.SerializeToString()


class Ints(list):
    """A feature of 64-bit integers."""

    kind = "int64_list"


class Texts(list):
    """A feature of byte strings."""

    kind = "bytes_list"


def decode(payload):
    """The features of a serialised tf.train.Example as {key: list}. Raises ValueError if payload is none."""
    try:
        example = Example.FromString(payload)
    except DecodeError as error:
        raise ValueError("not a tf.train.Example (%s)" % error)
    kinds = ((key, feature, feature.WhichOneof("kind")) for key, feature in example.features.feature.items())
    return {key: list(getattr(feature, kind).value) if kind else [] for key, feature, kind in kinds}
