"""What is refused: two sentences and an exit code, of each kind."""

import pytest

from object_detection_patches import errors


@pytest.mark.parametrize(
    "kind, code", [(errors.Refused, 3), (errors.SourceError, 3), (errors.PatchError, 3), (errors.WrongName, 2)]
)
def test_a_wrong_command_is_2_and_wrong_files_are_3(kind, code):
    assert kind.exit_code == code and issubclass(kind, errors.Refused)


def test_both_sentences_are_told():
    error = errors.SourceError("It is torn.", "Fetch it again.")
    assert (str(error), error.what, error.do) == ("It is torn. Fetch it again.", "It is torn.", "Fetch it again.")


@pytest.mark.parametrize("found, times", [(0, "nowhere"), (2, "2 times")])
def test_a_construct_that_is_not_there_once_is_named_with_patch_and_file(found, times):
    error = errors.PatchError("mine", "a/b.py", "the call f()", found)
    assert (
        error.what == f"The patch mine looks for the call f() in a/b.py and found it {times}, so nothing was changed."
    )
    assert "--without mine" in error.do
    assert (error.patch, error.file, error.construct) == ("mine", "a/b.py", "the call f()")
