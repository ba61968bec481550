"""Files of every format with parts replaced by nonsense: converted, or refused in a sentence, never a traceback."""

import json
import random

import pytest

from data_prep.__main__ import main
from tests.data_prep.formats.truth import EVERY, Folder

JUNK = [None, -1, 1e400, "", "x", [], {}, True, [[]], 10**20, float("nan"), "\ud83d", 0.5, "1", {"a": 1}, [1, 2]]
BYTES = [
    b"",
    b"\xff",
    b"nan",
    b"1e999",
    b"-",
    b" ",
    b"\n",
    b'"',
    b",",
    b"\0",
    b"99999999999999999999",
    b":",
    b"[",
    b"{",
]
TIMES = 25


def nonsense(choice, value):
    """value with one part replaced by something else."""
    if isinstance(value, dict) and value and choice.random() < 0.8:
        key = choice.choice(sorted(value, key=str))
        return dict(value, **{key: nonsense(choice, value[key])})
    if isinstance(value, list) and value and choice.random() < 0.8:
        at = choice.randrange(len(value))
        return value[:at] + [nonsense(choice, value[at])] + value[at + 1 :]
    return choice.choice(JUNK)


def spoil(choice, path):
    if path.suffix == ".json":
        path.write_text(json.dumps(nonsense(choice, json.loads(path.read_text()))))
        return
    content = bytearray(path.read_bytes())
    for _ in range(choice.randint(1, 4)):
        at = choice.randrange(len(content) + 1)
        content[at : at + choice.randint(0, 3)] = choice.choice(BYTES)
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("name, write", EVERY, ids=[write.__name__ for _, write in EVERY])
def test_any_content_is_converted_or_refused(tmp_path, encode, capsys, name, write):
    choice = random.Random(write.__name__)
    for attempt in range(TIMES):
        folder = Folder(tmp_path / str(attempt), encode)
        write(folder)
        files = sorted(path for path in folder.root.rglob("*") if path.suffix in (".json", ".txt", ".csv", ".yaml"))
        spoil(choice, choice.choice(files))
        command = ["--source", str(folder.root), "--out", str(tmp_path / f"out{attempt}")]
        code = main(
            [choice.choice([name, "dataset"])] + command + ["--shards", "1", "--workers", "1", "--max-skipped", "1"]
        )
        said = capsys.readouterr()
        assert code in (0, 2, 3) and "Traceback" not in said.out + said.err
