"""What a patch says of itself is what it promises to; test_tree.py has what it does."""

import os
import re

import pytest

from common.project import PROJECT_DIR
from object_detection_patches import tree
from object_detection_patches.patches import PATCHES


def test_a_patch_has_the_name_of_its_module():
    assert tuple(patch.name for patch in tree.select()) == PATCHES


@pytest.mark.parametrize("patch", tree.select(), ids=PATCHES)
def test_its_texts_are_whole_sentences_in_ascii(patch):
    for text in (patch.symptom, patch.cause, patch.cure, patch.proven_by):
        text.encode("ascii")
        assert text == " ".join(text.split()) and text.endswith((".", ".)")), text
    # It goes on where a sentence has begun.
    assert not patch.without.endswith(".")


@pytest.mark.parametrize("patch", tree.select(), ids=PATCHES)
def test_what_it_brings_lies_there_and_is_none_of_what_it_edits(patch):
    added = os.path.join(PROJECT_DIR, "object_detection_patches", "added")
    assert patch.files and len(set(patch.files)) == len(patch.files)
    assert not set(patch.files) & set(patch.adds)
    assert [path for path in patch.adds if not os.path.isfile(os.path.join(added, path))] == []


def test_what_lies_there_is_brought_by_a_patch():
    added = os.path.join(PROJECT_DIR, "object_detection_patches", "added")
    there = {
        os.path.relpath(os.path.join(folder, name), added)
        for folder, _, names in os.walk(added)
        for name in names
        if name.endswith(".py") and name != "__init__.py"
    }
    assert there == {path for patch in tree.select() for path in patch.adds}


@pytest.mark.parametrize("patch", tree.select(), ids=PATCHES)
def test_a_report_is_an_issue_that_can_be_looked_up(patch):
    assert [report for report in patch.reports if not re.match(r"[\w-]+/[\w-]+#\d+$", report)] == []
