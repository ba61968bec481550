"""entrypoint.py preflight: can this training work here? Shows everything that a training looks at first."""

import json
from typing import List

from common.errors import Refused
from common.text import counted
from tfod_train.preflight import checks
from tfod_train.process.console import Console
from tfod_train.settings import Settings

STYLES = {checks.OK: "green", checks.WARNING: "yellow", checks.ERROR: "bold red"}


def preflight(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Shows everything that was looked at; `--json` as one JSON object.

    Returns:
        exit code: 0, 2 or 3.

    Raises:
        Refused: there are other arguments.
    """
    if arguments not in ([], ["--json"]):
        raise Refused(f"preflight does not take {' '.join(arguments)}.", "It takes --json or nothing.")
    report = checks.look(settings)
    if arguments:
        lines = [dict(line._asdict(), code=line.code if line.level == checks.ERROR else 0) for line in report.lines]
        console.say(json.dumps({"exit_code": report.code, "lines": lines}, indent=1))
        return report.code
    console.table(_table(report))
    errors, warnings = len(report.errors), len(report.warnings)
    if errors:
        console.say(f"Training would be refused: {counted(errors, 'error')}.")
    else:
        warned = f", with {counted(warnings, 'warning')}" if warnings else ""
        console.say(f"Training can start{warned}.")
    return report.code


def _table(report):
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Preflight", show_lines=False)
    for name in ("", "looked at", "found, and what to do"):
        table.add_column(name, overflow="fold")
    for line in report.lines:
        table.add_row(
            Text(line.level, style=STYLES[line.level]), line.check, Text(line.text + (" " + line.do if line.do else ""))
        )
    return table
