"""The message tf.train.Example without TensorFlow."""

import pytest
from hypothesis import given, settings, strategies

from data_prep.tfrecord import codec, example_proto

texts = strategies.lists(strategies.binary(max_size=200) | strategies.text(max_size=200), max_size=4)


ints = strategies.lists(strategies.integers(-(2**63), 2**63 - 1), max_size=20)


floats = strategies.lists(strategies.floats(width=32), max_size=50)


@settings(deadline=None)
@given(
    strategies.dictionaries(
        strategies.text(max_size=150),
        texts.map(codec.Texts) | ints.map(codec.Ints) | floats.map(codec.Floats),
        max_size=8,
    )
)
def test_the_bytes_are_those_of_protobuf(features):
    example = example_proto.Example()
    for key, values in features.items():
        feature = example.features.feature[key]
        kind = {codec.Texts: feature.bytes_list, codec.Ints: feature.int64_list, codec.Floats: feature.float_list}[
            type(values)
        ]
        kind.SetInParent()
        kind.value.extend(value.encode("utf-8") if isinstance(value, str) else value for value in values)
    assert codec.encode(features) == example.SerializeToString(deterministic=True)


def test_it_is_read_field_by_field():
    parsed = example_proto.parse(codec.encode({"a": codec.Ints([1, -2]), "b": codec.Texts(["ä"])}))
    assert parsed.features.feature["a"].WhichOneof("kind") == "int64_list"
    assert list(parsed.features.feature["a"].int64_list.value) == [1, -2]
    assert list(parsed.features.feature["b"].bytes_list.value) == ["ä".encode()]


def test_what_is_no_example_is_a_value_error():
    with pytest.raises(ValueError, match="not a tf.train.Example"):
        example_proto.parse(b"\xff\xff\xff")
