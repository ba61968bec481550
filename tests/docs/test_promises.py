"""docs/promises.md quotes the README and names tests that exist."""

import ast
import os
import re

import pytest


@pytest.fixture(scope="module")
def rows(project_dir):
    """[(promise, [path::name of its tests])] of the page's tables."""
    with open(os.path.join(project_dir, "docs", "promises.md"), encoding="utf-8") as page:
        cells = [line.strip("| \n").split(" | ") for line in page if line.startswith("| ") and "`tests/" in line]
    return [(promise, re.findall(r"`(tests/[^`]+)`", tests)) for promise, tests in cells]


def plain(text):
    """Text without Markdown's links and without line breaks, as it is quoted."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def test_every_promise_is_in_the_readme(rows, project_dir):
    with open(os.path.join(project_dir, "README.md"), encoding="utf-8") as source:
        readme = plain(source.read())
    assert len(rows) > 70
    quoted = [
        (promise, part.strip())
        for promise, _ in rows
        for part in re.sub(r"^[\d, ]+: ", "", promise).rstrip(".").split("...")
        if part.strip(" :;,")
    ]
    assert [(promise, part) for promise, part in quoted if part.strip(":;, ") not in readme] == []


def test_every_promise_has_a_test(rows):
    assert [promise for promise, tests in rows if not tests] == []


def names_in(path):
    """Every `test_x` and `TestX::test_x` of a file."""
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found


def test_every_test_that_is_named_exists(rows, project_dir):
    missing = []
    for test in sorted({test for _, tests in rows for test in tests}):
        path, _, name = test.partition("::")
        path = os.path.join(project_dir, path)
        if not name.split("::")[-1].startswith("test_") or not os.path.isfile(path) or name not in names_in(path):
            missing.append(test)
    assert missing == []
