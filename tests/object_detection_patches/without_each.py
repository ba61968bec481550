"""Runs the tests of the patches once without each patch, and holds what fails against docs/patches.md.

    .venv/bin/python -m tests.object_detection_patches.without_each [NAME...]

Some minutes a patch. Exits with 1 when a patch's removal fails no test, or one that its section does not name.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from object_detection_patches.patches import PATCHES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def sections():
    """The text of each patch's section of docs/patches.md, by the patch's name."""
    with open(os.path.join(ROOT, "docs", "patches.md"), encoding="utf-8") as source:
        parts = re.split(r"^## (.+)\n", source.read(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def failing(name):
    """(number of tests run, sorted "file::test" that fail) without the patch."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        # Tests of the patching itself make trees of their own, which have all patches.
        subprocess.call(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--tb=no",
                "-m",
                "tensorflow",
                "--without-patch",
                name,
                "--junitxml",
                report,
                os.path.dirname(os.path.abspath(__file__)),
            ],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases), sorted(f"{case.get('classname').rpartition('.')[2]}::{case.get('name')}" for case in failed)


def is_named(test, section):
    """Whether what a section puts in backticks after "Proven by" is in a test's file, name or case."""
    proof = section.partition("*Proven by*")[2].partition("*Without it")[0]
    return any(
        word.strip("*").replace(".py", "").rpartition("/")[2] in test for word in re.findall(r"`([^`]+)`", proof)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="patches (default: all)")
    text, wrong = sections(), []
    for name in parser.parse_args().names or PATCHES:
        ran, tests = failing(name)
        strangers = [test for test in tests if not is_named(test, text[name])]
        print(f"{name}: {len(tests)} of {ran} tests fail")
        for test in tests:
            print(f"    {test}{'   NOT NAMED in docs/patches.md' if test in strangers else ''}")
        sys.stdout.flush()
        if strangers or not tests:
            wrong.append(name)
    if wrong:
        sys.exit(f"Not held by exactly the tests that docs/patches.md names: {', '.join(wrong)}.")


if __name__ == "__main__":
    main()
