#!/usr/bin/env python3
"""Tells which advisories are open for what is locked, and why an old version stays: advisories.py AUDIT.json

AUDIT.json is what `pip-audit --format json` found for a lock. The reasons are the comments in
docker/locks/requirements.in: most versions there are the last for Python 3.6, or the only ones that TensorFlow 1.15
works with. A package without one came along with others, and may be free to move (`make lock` with --upgrade). Prints
a Markdown table; exits with 1 where an advisory has a fixed version and no reason to stay.
"""

import json
import os
import re
import sys
from typing import Any, Dict, List, NamedTuple, Optional

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(os.path.dirname(FOLDER), "locks", "requirements.in")


class Row(NamedTuple):
    """An advisory: its ids, the versions without it ("none" for none), and why the package stays, if that is known."""

    package: str
    version: str
    ids: str
    fixed: str
    reason: Optional[str]


def reasons(text: str) -> Dict[str, str]:
    """{package: why that version} of an .in file."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==\S+\s+#\s*(.+)$", text, re.MULTILINE)
    return {name.lower().replace("_", "-"): why for name, why in found}


def rows(audit: Dict[str, Any], why: Dict[str, str]) -> List[Row]:
    """What pip-audit found, what has no reason first."""
    found = []
    for package in audit["dependencies"]:
        for problem in package.get("vulns", []):
            ids = [problem["id"]] + [name for name in problem.get("aliases", []) if name.startswith("CVE-")]
            fixed = ", ".join(problem["fix_versions"]) or "none"
            reason = why.get(package["name"].lower().replace("_", "-"))
            found.append(Row(package["name"], package["version"], ", ".join(ids), fixed, reason))
    return sorted(found, key=lambda row: (row.reason is not None, row.package, row.ids))


def markdown(found: List[Row]) -> str:
    """The rows as a table."""
    if not found:
        return "No advisory is open for what is locked.\n"
    lines = ["| package | version | advisory | fixed in | why it stays |", "|---|---|---|---|---|"]
    for row in found:
        cells = row._replace(reason=row.reason or "**no reason is written**")
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: List[str]) -> int:
    """Prints the table; returns the exit code."""
    if len(arguments) != 1:
        sys.exit("usage: advisories.py AUDIT.json")
    with open(arguments[0]) as file:
        audit = json.load(file)
    with open(LIST) as file:
        found = rows(audit, reasons(file.read()))
    sys.stdout.write(markdown(found))
    return 1 if any(row.reason is None and row.fixed != "none" for row in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
