"""The Makefile: every target is in `make help`, and each recipe is one line that says what it runs."""

import os
import re
import subprocess

import pytest

from common.project import PROJECT_DIR

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*parts):
    with open(os.path.join(REPOSITORY, *parts)) as source:
        return source.read()


def make(*arguments, **variables):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environ.update(variables)
    return subprocess.run(
        ["make"] + list(arguments),
        cwd=REPOSITORY,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        check=True,
    ).stdout


def targets():
    return re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.MULTILINE)


def test_make_alone_shows_every_target_with_a_description():
    shown = dict(re.findall(r"^  make (\S+) +(\S.*)$", make(), flags=re.MULTILINE))
    assert sorted(shown) == sorted(targets())


def test_every_target_is_phony():
    phony = " ".join(re.findall(r"^\.PHONY: (.*)$", read("Makefile"), flags=re.MULTILINE)).split()
    assert sorted(phony) == sorted(targets())


def test_each_recipe_is_one_line():
    rules = re.split(r"\n(?=[a-z-]+:)", read("Makefile"))[1:]
    assert all(rule.count("\n\t") == 1 for rule in rules)
    assert "\\\n" not in read("Makefile")


def test_make_n_reads_as_what_will_run():
    assert make("-n", "train") == "python3 -m launcher train\n"
    assert make("-n", "test-full").splitlines() == [
        "python3 -m launcher lint",
        'python3 -m launcher pytest -m "not long and not nightly and not image"',
        'python3 -m launcher pytest -m "long and not image"',
    ]


def test_what_test_full_leaves_out_is_nightly_and_the_kills_are_in_both():
    assert make("-n", "test-nightly") == 'python3 -m launcher pytest -m "nightly or kills" --kills 20\n'
    assert make("-n", "test-faults", "KILLS=6") == "python3 -m launcher pytest -m kills --kills 6\n"
    assert make("-n", "test-api") == "python3 -m launcher pytest -m api_own_tests\n"


def test_lint_comes_before_the_tests_of_daily_work_and_once():
    for target in ("test-fast", "test", "test-full"):
        lines = make("-n", target).splitlines()
        assert lines[0] == "python3 -m launcher lint" and lines.count(lines[0]) == 1


@pytest.mark.parametrize(
    "arguments, variables", [(["TRAINER=clone"], {}), ([], {"TRAINER": "clone"})], ids=["argument", "environment"]
)
def test_settings_reach_the_command_from_either_side(tmp_path, arguments, variables):
    fake = tmp_path / "python3"
    fake.write_text('#!/bin/sh\necho "$* TRAINER=$TRAINER"\n')
    fake.chmod(0o755)
    out = make("train", "PYTHON=" + str(fake), *arguments, **variables)
    assert out == "-m launcher train TRAINER=clone\n"


def test_clean_keeps_runs_and_data():
    recipe = make("-n", "clean")
    assert ".venv" in recipe
    assert "runs" not in recipe and "data" not in recipe


@pytest.mark.parametrize("arguments, refused", [(["EPOCHS=3"], True), (["LR=0.1"], True), (["NUM_STEPS=3"], False)])
def test_names_of_other_tools_on_makes_command_line_are_refused(tmp_path, arguments, refused):
    """By the real make: a generic name counts there, though not in the environment."""
    done = subprocess.run(
        ["make", "-s", "train", "RUN_IN=nowhere"] + arguments,
        cwd=PROJECT_DIR,
        env=dict(os.environ, GPUS="2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    name = arguments[0].partition("=")[0]
    assert (f"{arguments[0]}: there is no such setting" in done.stdout) == refused
    assert "GPUS=2 of the environment is not read here" in done.stdout
    assert "GPUS=2: there" not in done.stdout and (refused or "nowhere" in done.stdout), name
