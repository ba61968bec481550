"""JSON files that are whole or not there."""
import json

from data_prep import files


def write_json(path, value):
    files.write(path, (json.dumps(value, indent=2, sort_keys=True) + "\n").encode("utf-8"))


def read_json(path):
    """The value in a JSON file, or None where there is no such file."""
    try:
        with open(path) as source:
            return json.load(source)
    except FileNotFoundError:
        return None
