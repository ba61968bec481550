"""Label maps: the text proto StringIntLabelMap, read without the API.

The message is defined here in a pool of its own (fields as in object_detection/protos/string_int_label_map.proto),
so that the API's module can be imported later in the same process.
"""

from typing import Dict, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from common.text import printable

BACKGROUND = "background"


class LabelMap(NamedTuple):
    """`names` is {id: name}; `ids` is {name or display name: id}, where the API looks class texts up."""

    names: Dict[int, str]
    ids: Dict[str, int]


def _message_class():
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="data_prep/label_map.proto", package="data_prep")
    item = file.message_type.add(name="Item")
    for name, number, kind in (
        ("name", 1, field.TYPE_STRING),
        ("id", 2, field.TYPE_INT32),
        ("display_name", 3, field.TYPE_STRING),
    ):
        item.field.add(name=name, number=number, label=field.LABEL_OPTIONAL, type=kind)
    file.message_type.add(name="LabelMap").field.add(
        name="item", number=1, label=field.LABEL_REPEATED, type=field.TYPE_MESSAGE, type_name=".data_prep.Item"
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("data_prep.LabelMap"))


_Message = _message_class()


def read(path: str) -> LabelMap:
    """The LabelMap in a file.

    Raises:
        ValueError: it is none; the text says why.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        message = text_format.Parse(data.decode("utf-8"), _Message(), allow_unknown_field=True)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"it is no label map ({printable(str(error).strip(' .'))})") from error
    names: Dict[int, str] = {}
    ids: Dict[str, int] = {}
    for item in message.item:
        _add(item, names, ids)
    if not names:
        raise ValueError("it holds no item")
    return LabelMap(names, ids)


def _add(item, names, ids):
    name = item.name or item.display_name
    if not item.HasField("id") or not name:
        raise ValueError("it has an item without id or name")
    if item.id < 1:
        # The API gives 0 to the background and refuses any other class there.
        if item.id == 0 and BACKGROUND in (item.name, item.display_name):
            return
        raise ValueError(f"class {printable(name)} has id {item.id}, and ids count from 1")
    if item.id in names:
        raise ValueError(f"id {item.id} is given twice, to {printable(names[item.id])} and {printable(name)}")
    names[item.id] = name
    for text in {item.name, item.display_name} - {""}:
        if ids.setdefault(text, item.id) != item.id:
            raise ValueError(f"the name {printable(text)} is given twice, to ids {ids[text]} and {item.id}")
