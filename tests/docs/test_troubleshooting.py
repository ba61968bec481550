"""docs/troubleshooting.md has an entry for every sentence that a command can end with."""

import ast
import glob
import os
import re

import pytest

RAISED = {"Refused": 0, "Line": 2, "LaunchError": 0, "DataError": 0, "UsageError": 0}
ROOMS = ("tfod_train", "launcher", "data_prep", "common")
# What is only handed on: the sentence is made elsewhere.
LEVELS_WITHOUT_ENTRY = ("OK",)
SHORTEST = 12
FILLED = "\0"


def literal(node):
    """The text of a string expression with FILLED for what is filled in; None for anything else."""
    if isinstance(node, ast.Str):
        return node.s
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or FILLED for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.sub(r"%(?:\.\d+)?[sdgfr%]", FILLED, literal(node.left) or "")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (literal(node.left) or FILLED) + (literal(node.right) or FILLED)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return re.sub(r"\{[^}]*\}", FILLED, literal(node.func.value) or "")
    return None


def assigned(tree):
    """Texts that are assigned to a name: sentences that are raised by that name."""
    return {
        target.id: literal(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and literal(node.value)
    }


def sentences(path):
    """(line, text) of each sentence that a file raises as an error."""
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    names = assigned(tree)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or getattr(call.func, "id", None) not in RAISED:
            continue
        at = RAISED[call.func.id]
        if len(call.args) <= at or (at == 2 and getattr(call.args[1], "id", None) in LEVELS_WITHOUT_ENTRY):
            continue
        argument = call.args[at]
        text = names.get(argument.id) if isinstance(argument, ast.Name) else literal(argument)
        if text:
            yield call.lineno, text


def key(text):
    """The longest part of a sentence that is always the same."""
    parts = [" ".join(part.split()) for part in text.split(FILLED)]
    return max(parts, key=len).strip(' .,:;()"')


def all_sentences(project):
    files = [
        path for room in ROOMS for path in sorted(glob.glob(os.path.join(project, room, "**", "*.py"), recursive=True))
    ]
    return [
        (f"{os.path.relpath(path, project)}:{line}", key(text))
        for path in files
        for line, text in sentences(path)
        if len(key(text)) >= SHORTEST
    ]


@pytest.fixture
def page(project_dir):
    with open(os.path.join(project_dir, "docs", "troubleshooting.md"), encoding="utf-8") as source:
        return " ".join(source.read().split())


def test_every_error_sentence_has_an_entry(page, project_dir):
    found = all_sentences(project_dir)
    assert len(found) > 50
    assert [(where, text) for where, text in found if text not in page] == []


def test_sentences_of_every_room_are_found(project_dir):
    rooms = [where.split(os.sep)[0] for where, _ in all_sentences(project_dir)]
    assert all(rooms.count(room) > 20 for room in ROOMS[:3]) and rooms.count("common") > 5


def test_every_exit_code_has_one(page):
    from common import errors

    codes = {value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
    assert all(f"| {code} |" in page for code in codes | {0, 130, 137, 143})
