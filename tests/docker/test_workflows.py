"""The workflows are what GitHub reads, and call what exists: their shape, their expressions, their make targets.

actionlint comes as no wheel that a lock could name, so what it finds most often is looked at here.
"""
import glob
import os
import re
import shlex

import pytest
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = sorted(glob.glob(os.path.join(ROOT, ".github", "workflows", "*.yml")))
CONTEXTS = {"github", "matrix", "inputs", "vars"}
STEP_KEYS = {"name", "uses", "with", "run", "if", "env", "shell"}
JOB_KEYS = {"runs-on", "timeout-minutes", "steps", "strategy", "if", "env", "permissions"}


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
