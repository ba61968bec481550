"""CONFIG_OVERRIDE: a part of a pipeline config, merged into the one of the file."""

import copy
from typing import Any, Dict, List, Optional

from common.errors import SETTINGS_REFUSED, Refused
from common.text import counted
from tfod_train.config import text_proto

NAME = "CONFIG_OVERRIDE"
LINES_SHOWN = 8
# Which files these mean is seen to where they are chosen, and said there; the same may be written in several ways.
_PATHS = ("input_path", "label_map_path", "fine_tune_checkpoint")


class Override(object):
    """What CONFIG_OVERRIDE asks for; without one, nothing.

    Args:
        text: of the setting, None where it is not set.

    Raises:
        Refused: the text is no part of a pipeline config.
    """

    def __init__(self, text: Optional[str]):
        self._message = text_proto.read(text, NAME) if text else None
        self._asked: Dict[str, str] = {}

    def merge(self, config: Any, changes: List[str]) -> None:
        """Merges it into a TrainEvalPipelineConfig, as protocol buffers merge: single fields are replaced, lists grow.

        Args:
            config: is changed.
            changes: a line is added for each field that changes, up to LINES_SHOWN.

        Raises:
            Refused: it names a model of another type than the config's.
        """
        if self._message is None:
            return
        _refuse_another_model(config, self._message)
        before = text_proto.values(config)
        _merge(config, self._message)
        after = text_proto.values(config)
        changed = {name: value for name, value in after.items() if before.get(name) != value}
        gone = [f"{name}: {value} -> none ({NAME})" for name, value in before.items() if name not in after]
        lines = [f"{name}: {before.get(name, 'none')} -> {value} ({NAME})" for name, value in changed.items()] + gone
        changes += lines[:LINES_SHOWN]
        if len(lines) > LINES_SHOWN:
            changes.append(f"and {counted(len(lines) - LINES_SHOWN, 'more field')} ({NAME})")
        asked = {name: value for name, value in text_proto.values(self._message).items() if after.get(name) == value}
        self._asked = dict(asked, **changed)

    def refuse_undone(self, config: Any) -> None:
        """Raises Refused where the effective config says something else than was asked for."""
        effective = text_proto.values(config)
        for name, value in self._asked.items():
            there = effective.get(name, "none")
            if there != value and name.rpartition(".")[2] not in _PATHS:
                raise Refused(
                    f"{NAME} sets {name} to {value}, and with the other settings and the dataset it is {there}.",
                    f"Take it out of {NAME}, or leave out the setting that says otherwise.",
                    SETTINGS_REFUSED,
                )

    def differs_from(self, config: Any) -> List[str]:
        """`field is A there, not B` for each single field that a config has otherwise; lists are not compared."""
        if self._message is None:
            return []
        there = text_proto.values(config)
        return [
            f"{name} is {there.get(name, 'none')} there, not {value}"
            for name, value in text_proto.values(self._message).items()
            if "[" not in name and ", " not in value and there.get(name) != value
        ]


def _merge(config, message):
    """As protocol buffers merge, but for the evaluation's readers: a second one would be read by nobody."""
    message = copy.deepcopy(message)
    for reader, asked in zip(config.eval_input_reader, message.eval_input_reader):
        reader.MergeFrom(asked)
    del message.eval_input_reader[: len(config.eval_input_reader)]
    config.MergeFrom(message)


def _refuse_another_model(config, message):
    asked, there = message.model.WhichOneof("model"), config.model.WhichOneof("model")
    if asked and there and asked != there:
        raise Refused(
            f"{NAME} changes the model {asked}, and the config's model is {there}.",
            f"Write model {{ {there} {{ ... }} }}, or set PIPELINE_CONFIG to a config of {asked}.",
            SETTINGS_REFUSED,
        )
