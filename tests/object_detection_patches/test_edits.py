"""Edits find their construct exactly once, change it alone, and leave the rest of the file as it is."""

import pytest

from object_detection_patches.edits import File
from object_detection_patches.errors import PatchError

CODE = b"""# A comment.
def outer(a,  b=1):
  '''Says something.'''
  if a is None :   # why
    x = make(
        'one',
        2)
  return x


class Box(object):
  def outer(self):
    return helper . area(self)
"""


def edited(method, *arguments, data=CODE, **keywords):
    file = File("some_patch", "some/file.py", data)
    getattr(file, method)(*arguments, **keywords)
    return file.data


def test_an_expression_is_replaced_and_its_statement_marked():
    assert edited("replace_expression", "a is None", "a is None and b", inside="outer") == CODE.replace(
        b"  if a is None :", b"  # Changed by the tfod-train patch some_patch.\n  if a is None and b :"
    )


def test_code_is_found_however_it_is_formatted():
    assert b"return area_of(self)" in edited("replace_expression", "helper.area", "area_of", inside="Box")
    assert b"make(\n        'two'," in edited("replace_expression", '"one"', "'two'")


def test_a_changed_test_of_an_if_marks_the_if_and_not_its_body():
    lines = edited("replace_expression", "a is None", "not a").splitlines()
    at = lines.index(b"  if not a :   # why")
    assert lines[at - 1] == b"  # Changed by the tfod-train patch some_patch."
    assert lines[at + 1] == b"    x = make("


def test_a_function_is_told_from_a_method_of_its_name():
    assert b"class Box(object):\n  def outer(self):\n    # Changed" in edited("insert_first", "pass", "Box.outer")


def test_a_first_statement_goes_after_the_docstring():
    assert b"something.'''\n  # Changed by the tfod-train patch some_patch.\n  import os\n  if" in edited(
        "insert_first", "import os", "outer"
    )


def test_a_statement_is_replaced():
    assert b"return y\n" in edited("replace_statement", "return  x", "return y")


def test_a_statement_is_inserted_before_another_and_marked():
    assert b"2)\n  # Changed by the tfod-train patch some_patch.\n  if x:\n    x = y\n  return x\n" in edited(
        "insert_before", "return  x", "if x:\n  x = y"
    )


def test_parameters_are_appended():
    assert b"def outer(a,  b=1, c=None, d=None):" in edited("add_parameters", "c=None, d=None", "outer")


def test_an_assignment_is_guarded_whole():
    assert edited("guard_assignment", "x", "x is None", inside="outer") == CODE.replace(
        b"    x = make(\n        'one',\n        2)\n",
        b"    # Changed by the tfod-train patch some_patch.\n    if x is None:\n"
        b"      x = make(\n          'one',\n          2)\n",
    )


@pytest.mark.parametrize(
    "method, arguments",
    [
        ("replace_expression", ("a is True", "b")),
        ("replace_statement", ("return z", "return y")),
        ("insert_before", ("return z", "pass")),
        ("insert_first", ("pass", "inner")),
        ("add_parameters", ("b=2", "outer")),
        ("guard_assignment", ("y", "y is None", "outer")),
    ],
)
def test_a_missing_construct_is_named_with_patch_and_file(method, arguments):
    with pytest.raises(PatchError, match="some_patch looks for .* in some/file.py and found it nowhere"):
        edited(method, *arguments)


@pytest.mark.parametrize(
    "method, arguments",
    [
        ("replace_expression", ("a is None", "b")),
        ("replace_statement", ("return x", "return y")),
        ("insert_before", ("return x", "pass")),
        ("insert_first", ("pass", "outer")),
        ("add_parameters", ("c=None", "outer")),
        ("guard_assignment", ("x", "x is None", "outer")),
    ],
)
def test_a_doubled_construct_is_refused(method, arguments):
    with pytest.raises(PatchError, match="found it 2 times"):
        edited(method, *arguments, data=CODE + CODE)


def test_windows_line_ends_stay():
    data = CODE.replace(b"\n", b"\r\n")
    for method, arguments in [
        ("replace_expression", ("a is None", "not any([\n      a])", "outer")),
        ("guard_assignment", ("x", "x is None", "outer")),
        ("insert_first", ("pass", "outer")),
    ]:
        result = edited(method, *arguments, data=data)
        assert result.count(b"\n") == result.count(b"\r\n") == data.count(b"\n") + 2


def test_a_file_that_is_not_python_is_refused():
    with pytest.raises(PatchError, match="Python that can be parsed"):
        File("some_patch", "some/file.py", b"def f(:\n")
