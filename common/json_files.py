"""JSON files that are whole or not there."""

import json

from common import files
from common.errors import PREFLIGHT_FAILED, Refused


def write_json(path, value):
    files.write(path, (json.dumps(value, indent=2, sort_keys=True) + "\n").encode("utf-8"))


def read_json(path, cure="Move it away, or take it from a backup."):
    """The value in a JSON file, or None where there is no such file.

    Raises:
        Refused: exit code 3 where it holds something else; `cure` is the sentence that says what to do about it.
    """
    try:
        with open(path) as source:
            return json.load(source)
    except FileNotFoundError:
        return None
    except ValueError as error:  # of json, or of text that is no UTF-8
        raise Refused(f"{path} is damaged: it is not valid JSON.", cure, PREFLIGHT_FAILED) from error
