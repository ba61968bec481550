#!/usr/bin/env python3
"""Tells which advisories are open for what is locked, and why an old version stays: advisories.py AUDIT.json

AUDIT.json is what `pip-audit --format json` found for a lock. The reasons are the comments in requirements.in:
most versions there are the last for Python 3.6, or the only ones that TensorFlow 1.15 works with. A package
without one came along with others, and may be free to move (`make lock` with --upgrade). Prints a Markdown
table; exits with 1 where an advisory has a fixed version and no reason to stay.
"""

import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def reasons(text):
    """{package: why that version} of an .in file."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==\S+\s+#\s*(.+)$", text, re.MULTILINE)
    return {name.lower().replace("_", "-"): why for name, why in found}


def rows(audit, why):
    """[(package, version, ids, fixed versions, reason or None)] of what pip-audit found."""
    found = []
    for package in audit["dependencies"]:
        for problem in package.get("vulns", []):
            ids = [problem["id"]] + [name for name in problem.get("aliases", []) if name.startswith("CVE-")]
            fixed = ", ".join(problem["fix_versions"]) or "none"
            found.append(
                (
                    package["name"],
                    package["version"],
                    ", ".join(ids),
                    fixed,
                    why.get(package["name"].lower().replace("_", "-")),
                )
            )
    return sorted(found, key=lambda row: (row[4] is not None, row[0], row[2]))


def markdown(found):
    if not found:
        return "No advisory is open for what is locked.\n"
    lines = ["| package | version | advisory | fixed in | why it stays |", "|---|---|---|---|---|"]
    lines += ["| {} | {} | {} | {} | {} |".format(*row[:4] + (row[4] or "**no reason is written**",)) for row in found]
    return "\n".join(lines) + "\n"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__.splitlines()[0])
    with open(arguments[0]) as file:
        audit = json.load(file)
    with open(os.path.join(FOLDER, "requirements.in")) as file:
        found = rows(audit, reasons(file.read()))
    sys.stdout.write(markdown(found))
    return 1 if any(row[4] is None and row[3] != "none" for row in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
