"""Pipeline configs as text: read with a sentence where they fail, and shown field by field."""

import re
from typing import Any, Dict, Tuple

from google.protobuf import text_format
from object_detection.protos import pipeline_pb2

from common.errors import Refused
from common.text import nearest


def read(text: str, what: str) -> Any:
    """TrainEvalPipelineConfig of a text.

    Args:
        text: a text proto.
        what: what the text is, which begins the sentence: a path, the name of a setting.

    Raises:
        Refused: the text is none; the sentence holds line, column and field.
    """
    config = pipeline_pb2.TrainEvalPipelineConfig()
    try:
        text_format.Merge(text, config)
    except text_format.ParseError as error:
        problem, do = _where_it_fails(str(error))
        raise Refused(f"{what} is not a pipeline config: {problem}.", do) from error
    return config


def values(message: Any, prefix: str = "") -> Dict[str, str]:
    """Texts of all fields that are set, by dotted path; of several messages of one name the second is name[1]."""
    found: Dict[str, str] = {}
    for field, value in message.ListFields():
        name = prefix + field.name
        many = field.label == field.LABEL_REPEATED
        if field.message_type is None:
            found[name] = ", ".join(_text(field, one) for one in (value if many else [value]))
            continue
        for number, one in enumerate(value if many else [value]):
            found.update(values(one, f"{name}[{number}]." if number else name + "."))
    return found


def _text(field, value):
    """A value as a text proto has it."""
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    if field.type == field.TYPE_STRING:
        return f'"{value}"'
    if field.type == field.TYPE_BOOL:
        return "true" if value else "false"
    return f"{value:.8g}" if isinstance(value, float) else str(value)


def _where_it_fails(error: str) -> Tuple[str, str]:
    """(what is wrong and where, what to do) for protobuf's `3:5 : Message type "..." has no field named "..."`."""
    where = re.match(r"(\d+):(\d+) : ", error)
    if not where:
        return " ".join(error.split()).rstrip("."), "Name a text file as those in configs/."
    what = f"line {where.group(1)}, column {where.group(2)}: {error[where.end() :].rstrip('.')}"
    field = re.search(r'Message type "([\w.]+)" has no field named "(\w+)"', error)
    if field:
        known = pipeline_pb2.DESCRIPTOR.pool.FindMessageTypeByName(field.group(1)).fields_by_name
        near = nearest(field.group(2), known)
        if near:
            return what, f"Did you mean {near}? Correct it there."
    return what, "Correct it there."
