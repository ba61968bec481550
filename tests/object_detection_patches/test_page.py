"""docs/patches.md is made from the patches, explains each of them, and names tests that exist."""

import os
import re

import pytest

from object_detection_patches import cli
from object_detection_patches.patches import PATCHES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS = ("*Symptom.*", "*Cause.*", "*What we do.*", "*Proven by*", "*Without it")


@pytest.fixture(scope="module")
def sections():
    """The text of each patch's section of docs/patches.md, in one line, by its name; other headings have spaces."""
    with open(os.path.join(ROOT, "docs", "patches.md"), encoding="utf-8") as source:
        parts = re.split(r"^## (.+)\n", source.read(), flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in zip(parts[1::2], parts[2::2]) if " " not in name}


def test_the_page_is_what_the_command_prints(capsys):
    assert cli.main(["docs"]) == 0
    printed = capsys.readouterr().out
    with open(os.path.join(ROOT, "docs", "patches.md"), encoding="utf-8") as page:
        assert page.read() == printed, "python -m object_detection_patches docs >docs/patches.md"
    printed.encode("ascii")  # nothing that a terminal on Python 3.6 may be unable to show
    assert max(len(line) for line in printed.splitlines()) <= 120
    # What is in backticks can be copied from one line, and searched for.
    assert [line for line in printed.splitlines() if line.count("`") % 2] == []
    assert "\n\n## One step on one device, two replicas and two clones\n\n" in printed


def test_every_patch_has_its_section_and_there_is_no_other(sections):
    assert sorted(sections) == sorted(PATCHES)


@pytest.mark.parametrize("name", PATCHES)
def test_a_section_tells_symptom_cause_cure_proof_and_how_to_leave_the_patch_out(name, sections):
    assert [part for part in PARTS if sections.get(name, "").count(part) != 1] == []
    assert f"apply DIR --without {name}`" in sections[name]


def test_every_test_that_is_named_exists(sections):
    named = set(re.findall(r"`(?:tests/\S+::)?(test_\w+)`", "".join(sections.values())))
    defined = set()
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        for file in (name for name in files if name.endswith(".py")):
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                defined.update(re.findall(r"^def (test_\w+)", source.read(), flags=re.MULTILINE))
    assert named and named <= defined, named - defined
