"""From a dataset and a model's name to the text of a pipeline config."""

import os
import re
import textwrap
from typing import NamedTuple

from common.text import printable
from tfod_train.config import text_proto
from tfod_train.config.dataset import Dataset
from tfod_train.fitted_config import boxes, choices, models

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
_LONGEST_LINE = 110


class Written(NamedTuple):
    """text: of the config. choices: what was decided. model: its name in MODELS."""

    text: str
    choices: choices.Choices
    model: str


def text_for(dataset: Dataset, model_name: str, data_dir: str, path: str) -> Written:
    """The config of a model that fits a dataset; the same for the same dataset, model and checkpoints that are there.

    Args:
        dataset: its training records are looked at.
        model_name: of MODELS, or the model zoo's name of one.
        data_dir: DATA_DIR, where checkpoints of the model zoo lie.
        path: where the config is going to be, for the command in it.

    Raises:
        Refused: there is no such model.
    """
    model = models.find(model_name)
    name = next(key for key, one in models.MODELS.items() if one is model)
    chosen = choices.make(model, dataset, boxes.gather(boxes.sample(dataset)), data_dir)
    text = (
        _environment()
        .get_template(model.template)
        .render(
            c=chosen,
            small=model.small,
            levels=_levels(chosen.anchors.fitted.generator),
            title=f"{name} for {printable(dataset.name)}, written for its boxes: {model.about}.",
            command=[f"DATASET={printable(dataset.folder)} PIPELINE_CONFIG={printable(path)} make train"],
        )
    )
    text_proto.read(text, path)  # whatever a class or a folder is called, what is written is a config
    return Written(text, chosen, name)


def _levels(generator):
    """(finest, coarsest) level of an FPN's anchors; (0, 0) for other anchors."""
    found = re.search(r"min_level: (\d+) max_level: (\d+)", generator)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def _environment():
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # plain text; names that are not ours stand in comments or quotes alone
    )
    environment.filters.update(comment=_comment, fields=_fields, quoted=_quoted)
    return environment


def _comment(text, indent):
    """A sentence as comment lines of a text proto."""
    begin = " " * indent + "# "
    lines = textwrap.wrap(text, _LONGEST_LINE, initial_indent=begin, subsequent_indent=begin, break_on_hyphens=False)
    return "\n".join(lines)


def _fields(message, indent):
    """`name { field: value ... }` with a field a line."""
    name, _, fields = message.partition(" { ")
    lines = re.split(r" (?=[a-z_]+:)", fields[: -len(" }")])
    begin = " " * indent
    return "\n".join([f"{begin}{name} {{"] + [f"{begin}  {line}" for line in lines] + [f"{begin}}}"])


def _quoted(text):
    """A string of a text proto."""
    from google.protobuf import text_encoding

    return '"' + text_encoding.CEscape(text.encode("utf-8"), as_utf8=True) + '"'
