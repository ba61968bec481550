"""Runs the tests of the patches once without each patch, and holds what fails against what the patch names.

    .venv/bin/python -m tests.object_detection_patches.without_each [NAME...]

Some minutes a patch. Exits with 1 when a patch's removal fails no test, or one that it does not name as its proof.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from object_detection_patches import tree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def failing(name):
    """(number of tests run, sorted "file::test" that fail) without the patch."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        # Tests of the patching itself make trees of their own, which have all patches.
        chosen = ["-m", "tensorflow", "--without-patch", name, "--junitxml", report, HERE]
        subprocess.call(
            [sys.executable, "-m", "pytest", "-q", "--tb=no"] + chosen,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases), sorted(f"{case.get('classname').rpartition('.')[2]}::{case.get('name')}" for case in failed)


def is_named(test, proven_by):
    """Whether something in backticks, less a path's folders, is in a test's file, name or case."""
    words = [word.strip("*").replace(".py", "").rpartition("/")[2] for word in re.findall(r"`([^`]+)`", proven_by)]
    return any(word and word in test for word in words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="patches (default: all)")
    wrong = []
    for patch in tree.select(only=parser.parse_args().names):
        ran, tests = failing(patch.name)
        strangers = [test for test in tests if not is_named(test, patch.proven_by)]
        print(f"{patch.name}: {len(tests)} of {ran} tests fail")
        for test in tests:
            print(f"    {test}{'   NOT NAMED by the patch' if test in strangers else ''}")
        sys.stdout.flush()
        if strangers or not tests:
            wrong.append(patch.name)
    if wrong:
        sys.exit(f"Not held by exactly the tests that the patch names: {', '.join(wrong)}.")


if __name__ == "__main__":
    main()
