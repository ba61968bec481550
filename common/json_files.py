"""JSON files that are whole or not there."""

import json
from typing import Any

from common import files
from common.errors import PREFLIGHT_FAILED, Refused


def write_json(path: str, value: Any) -> None:
    files.write(path, (json.dumps(value, indent=2, sort_keys=True) + "\n").encode("utf-8"))


def read_json(path: str, cure: str = "Move it away, or take it from a backup.") -> Any:
    """The value in a JSON file, or None where there is no such file.

    Args:
        path: of the file.
        cure: the sentence that says what to do about one that is damaged.

    Raises:
        Refused: exit code 3 where it holds something else.
    """
    try:
        with open(path) as source:
            return json.load(source)
    except FileNotFoundError:
        return None
    except ValueError as error:  # of json, or of text that is no UTF-8
        raise Refused(f"{path} is damaged: it is not valid JSON.", cure, PREFLIGHT_FAILED) from error
