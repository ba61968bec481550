"""TFRecord files and examples without TensorFlow, compared with TensorFlow's own where it is asked."""

import pickle
import struct

import pytest
from hypothesis import given, settings, strategies

from data_prep.tfrecord import codec

EXAMPLE = {
    "b": codec.Texts([b"\x00\xff", "ä"]),
    "a": codec.Floats([0.5, 1.5]),
    "c": codec.Ints([1, -2]),
    "empty": codec.Floats(),
}


def write(path, *payloads):
    with codec.Writer(str(path)) as writer:
        for payload in payloads:
            writer.write(payload)
    return writer.written


def test_the_masked_checksum_is_the_published_one():
    # CRC-32C of "123456789" is 0xe3069283 (RFC 3720); the mask is that of tensorflow/core/lib/hash/crc32c.h.
    assert codec.masked_crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


@settings(deadline=None)
@given(strategies.lists(strategies.binary(max_size=200)))
def test_what_is_written_is_read(tmp_path_factory, payloads):
    path = tmp_path_factory.mktemp("records") / "r"
    written = write(path, *payloads)
    assert list(codec.read(str(path))) == payloads
    assert written.examples == codec.count(str(path)) == len(payloads)
    assert written.bytes == path.stat().st_size


def test_an_example_survives_and_an_empty_list_keeps_its_key():
    assert codec.decode(codec.encode(EXAMPLE)) == {
        "b": [b"\x00\xff", "ä".encode()],
        "a": [0.5, 1.5],
        "c": [1, -2],
        "empty": [],
    }


def test_packed_floats_are_floats_as_they_lie_in_memory():
    values = [0.0, 1.0, -2.5] * 100
    packed = codec.PackedFloats(struct.pack("<300f", *values))
    assert codec.encode({"mask": packed}) == codec.encode({"mask": codec.Floats(values)})


@pytest.mark.parametrize("values", [codec.Ints([2**63]), codec.Ints([-(2**63) - 1]), codec.Floats([1e39])])
def test_a_number_that_its_type_does_not_hold_is_refused(values):
    with pytest.raises((struct.error, OverflowError)):
        codec.encode({"a": values})


def test_the_order_of_keys_does_not_change_the_bytes():
    assert codec.encode(EXAMPLE) == codec.encode(dict(reversed(list(EXAMPLE.items()))))


@pytest.mark.parametrize("at", range(0, 60))
def test_a_flipped_bit_is_found_wherever_it_is(tmp_path, at):
    path = tmp_path / "r"
    write(path, b"x" * 10, b"y" * 10, b"z" * 50)
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(bytes(data))
    with pytest.raises(codec.RecordError, match="damaged at byte (0|26|52)"):
        list(codec.read(str(path)))


@pytest.mark.parametrize("left", [left for left in range(1, 52) if left != 26])
def test_a_cut_file_is_found_wherever_it_ends(tmp_path, left):
    path = tmp_path / "r"
    write(path, b"x" * 10, b"y" * 10)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(codec.RecordError):
        list(codec.read(str(path)))
    with pytest.raises(codec.RecordError):
        codec.count(str(path))


def test_an_error_says_file_and_byte_also_after_it_travelled_between_processes(tmp_path):
    error = pickle.loads(pickle.dumps(codec.RecordError("a/shard", 26, "it is torn")))
    assert error.what == "a/shard is damaged at byte 26: it is torn."


def test_bytes_that_are_no_example_raise_value_error():
    with pytest.raises(ValueError, match="not a tf.train.Example"):
        codec.decode(b"\xff\xff\xff")


@pytest.mark.tensorflow
def test_tensorflow_reads_our_file_and_serialises_the_same_example(tmp_path):
    import tensorflow as tf

    path = str(tmp_path / "r")
    payload = codec.encode(EXAMPLE)
    write(path, payload, b"")
    assert list(tf.compat.v1.io.tf_record_iterator(path)) == [payload, b""]
    assert tf.train.Example.FromString(payload).SerializeToString(deterministic=True) == payload
