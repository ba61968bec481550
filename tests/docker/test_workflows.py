"""What this project asks of the workflows beside what actionlint and shellcheck see (`make lint`): few permissions, an
end, targets that are there.
"""

import glob
import os
import re
import shlex

import pytest
import yaml

from tests.docker.conftest import ROOT

# Without continue-on-error, services and containers of others.
JOB_KEYS = {"runs-on", "timeout-minutes", "steps", "strategy", "if", "env", "permissions"}
STEP_KEYS = {"name", "uses", "with", "run", "if", "env", "shell"}
FILES = sorted(glob.glob(os.path.join(ROOT, ".github", "workflows", "*.yml")))


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


def test_there_are_those_that_the_project_promises():
    assert [os.path.basename(path) for path in FILES] == ["advisories.yml", "ci.yml", "gpu-smoke.yml", "nightly.yml"]


def test_only_pushes_requests_the_clock_and_people_start_one_and_none_hides_a_failure(workflow):
    assert set(workflow) <= {"name", "on", "permissions", "concurrency", "jobs", "env"}
    assert set(workflow["on"]) <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    for job in workflow["jobs"].values():
        assert set(job) <= JOB_KEYS and {"runs-on", "steps"} <= set(job)
    for step in steps(workflow):
        assert set(step) <= STEP_KEYS
        assert ("uses" in step) != ("run" in step)


def test_expressions_use_no_secret_and_nothing_that_strangers_write(text):
    """A title or a branch's name in an expression of `run` would be run."""
    expressions = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", text)
    assert text.count("${{") == len(expressions)
    contexts = {context for one in expressions for context in re.findall(r"\b([a-z]+)\.\w", one)}
    assert contexts <= {"github", "matrix", "inputs", "vars"}
    named = text.replace("github.event_name", "")
    assert not re.search(r"github\.(event\.(?!label\.name\b)|head_ref)", named)


def test_it_may_only_read_and_ends_by_itself(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert all(0 < job["timeout-minutes"] <= 150 for job in workflow["jobs"].values())


def test_actions_are_named_with_a_version_and_are_github_s_own(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used and all(re.match(r"actions/[a-z-]+@v\d+$", name) for name in used)


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


def test_gpus_are_only_given_by_a_label(workflow):
    for job in workflow["jobs"].values():
        if "self-hosted" in job["runs-on"]:
            assert job["if"] == "github.event_name != 'pull_request' || github.event.label.name == 'gpu'"


def test_the_tests_that_need_python_3_8_find_one_where_they_run():
    """They are skipped without; the version named last is the one that `python3` is."""
    with open(os.path.join(ROOT, ".github", "workflows", "nightly.yml")) as file:
        job = yaml.safe_load(file)["jobs"]["nightly"]
    (versions,) = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert versions.split() == ["3.8", "3.7"]
