"""What tells two runs apart, from their run.json."""

import argparse
import os
from typing import Any, Dict, List, Tuple

from common.errors import SETTINGS_REFUSED, Refused
from common.json_files import read_json
from tfod_train.config import pipeline, text_proto
from tfod_train.process.console import Console
from tfod_train.run.run_dir import MANIFEST
from tfod_train.settings import Settings

# What differs between any two runs, the same as they may be.
ALWAYS_DIFFERS = ("started", "ended", "earlier", "host", "command", "settings.run_dir")
ABSENT = "-"


def differences(one: Dict[str, Any], other: Dict[str, Any], everything: bool = False) -> List[Tuple[str, str, str]]:
    """What tells two manifests apart.

    Args:
        one, other: dicts as in run.json.
        everything: also what differs between any two runs (times, host, command).

    Returns:
        Sorted list of (dotted name, value in one, value in the other) as texts; ABSENT where there is none.
    """
    flat_one, flat_other = _flat(one), _flat(other)
    names = sorted(
        name for name in set(flat_one) | set(flat_other) if flat_one.get(name, ABSENT) != flat_other.get(name, ABSENT)
    )
    return [
        (name, flat_one.get(name, ABSENT), flat_other.get(name, ABSENT))
        for name in names
        if everything or not any(name == skipped or name.startswith(skipped + ".") for skipped in ALWAYS_DIFFERS)
    ]


def _flat(value, prefix=""):
    """Texts of all leaves of a JSON value by dotted name; the effective config by the path of each field."""
    if prefix == "config":
        config = pipeline.from_lines(value)
        return {"config": str(value)} if config is None else text_proto.values(config, "config.")
    if isinstance(value, dict):
        items = [(str(key), one) for key, one in value.items()]
    elif isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        items = [
            (str(one.get("file", index)) if isinstance(one, dict) else str(index), one)
            for index, one in enumerate(value)
        ]
    else:
        return {prefix: ", ".join(map(str, value)) if isinstance(value, list) else str(value)}
    flat = {}
    for name, one in items:
        flat.update(_flat(one, f"{prefix}.{name}" if prefix else name))
    return flat


def _read(path):
    cure = "Name two folders of runs, or their run.json."
    file = os.path.join(path, MANIFEST) if os.path.isdir(path) else path
    try:
        manifest = read_json(file, cure)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}.", cure) from error
    except Refused as refused:
        raise Refused(refused.what, refused.do, SETTINGS_REFUSED) from refused
    if not isinstance(manifest, dict):
        raise Refused(f"{file} is not there or is no run.json.", cure)
    return manifest


def diff(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Shows what tells two runs apart; see entrypoint.py.

    Returns:
        exit code: 0; with --exit-code 1 where the runs differ, as `git diff` has it.

    Raises:
        Refused: one of the two is no run.
    """
    parser = argparse.ArgumentParser(prog="entrypoint.py diff", description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs=2, metavar="RUN", help="a RUN_DIR or a run.json")
    parser.add_argument("--all", action="store_true", help="also times, host and command, which always differ")
    parser.add_argument("--exit-code", action="store_true", help="end with 1 where the runs differ, as git diff does")
    options = parser.parse_args(arguments)
    if not all(options.runs):
        raise Refused("Two runs are compared, and one is not named.", "Try make diff RUN_A=runs/one RUN_B=runs/other.")
    one, other = [_read(run) for run in options.runs]
    found = differences(one, other, everything=options.all)
    if not found:
        console.say("The two runs are of the same making.")
        return 0
    console.table(_table(options.runs, found))
    return 1 if options.exit_code else 0


def _table(runs, found):
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table("", *map(escape, runs), box=None, padding=(0, 2, 0, 0))
    for row in found:
        table.add_row(*map(Text, row))
    return table
