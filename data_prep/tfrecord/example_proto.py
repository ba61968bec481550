"""The message tf.train.Example, for those who read it, without TensorFlow; `codec.encode` writes it.

It is built from a descriptor in a pool of its own, so that TensorFlow can be imported later in the same process
and register the same names.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError


def _example_class():
    """tf.train.Example as tensorflow/core/example/{feature,example}.proto define it."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="data_prep/example.proto", package="tensorflow", syntax="proto3")

    def message(name, *fields, parent=None):
        new = parent.nested_type.add(name=name) if parent else file.message_type.add(name=name)
        for number, (field_name, label, kind, type_name) in enumerate(fields, 1):
            new.field.add(name=field_name, number=number, label=label, type=kind, type_name=type_name)
        return new

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    message("BytesList", ("value", many, field.TYPE_BYTES, None))
    message("FloatList", ("value", many, field.TYPE_FLOAT, None))
    message("Int64List", ("value", many, field.TYPE_INT64, None))
    feature = message(
        "Feature",
        ("bytes_list", one, field.TYPE_MESSAGE, ".tensorflow.BytesList"),
        ("float_list", one, field.TYPE_MESSAGE, ".tensorflow.FloatList"),
        ("int64_list", one, field.TYPE_MESSAGE, ".tensorflow.Int64List"),
    )
    feature.oneof_decl.add(name="kind")
    for member in feature.field:
        member.oneof_index = 0
    features = message("Features", ("feature", many, field.TYPE_MESSAGE, ".tensorflow.Features.FeatureEntry"))
    entry = message(
        "FeatureEntry",
        ("key", one, field.TYPE_STRING, None),
        ("value", one, field.TYPE_MESSAGE, ".tensorflow.Feature"),
        parent=features,
    )
    entry.options.map_entry = True
    message("Example", ("features", one, field.TYPE_MESSAGE, ".tensorflow.Features"))

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Example"))


Example = _example_class()


def parse(payload: bytes) -> Any:
    """The Example in a serialised one.

    Raises:
        ValueError: payload is none.
    """
    try:
        return Example.FromString(payload)
    except DecodeError as error:
        raise ValueError(f"not a tf.train.Example ({error})") from error
