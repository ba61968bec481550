"""Refusals: two sentences, and the exit code of the README's table."""

import pickle

import pytest

from common import errors


@pytest.mark.parametrize(
    "kind, given, code",
    [
        (errors.Refused, None, 2),
        (errors.Refused, 3, 3),
        (errors.DataError, None, 3),
        (errors.UsageError, None, 2),
        (errors.DataError, 2, 2),
    ],
)
def test_the_code_is_that_of_the_kind_unless_another_is_given(kind, given, code):
    error = kind("It is wrong.", "Correct it.", given)
    assert (error.code, error.what, error.do, str(error)) == (
        code,
        "It is wrong.",
        "Correct it.",
        "It is wrong. Correct it.",
    )
    assert kind("a", "b").code == kind.code  # the next one has the class's again


def test_whoever_catches_errors_of_data_catches_those_of_usage():
    with pytest.raises(errors.DataError):
        raise errors.UsageError("a", "b")


def test_an_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(errors.DataError("It is torn.", "Fetch it again.")))
    assert (error.what, error.do, error.code) == ("It is torn.", "Fetch it again.", 3)


def test_a_command_without_arguments_refuses_each_by_name():
    errors.refuse_arguments("report", [])
    with pytest.raises(errors.Refused) as refused:
        errors.refuse_arguments("report", ["--fast", "runs/mine"])
    assert (refused.value.what, refused.value.code) == ("report takes no arguments: --fast runs/mine.", 2)
