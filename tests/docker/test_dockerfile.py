"""What hadolint (`make lint`) does not know of the Dockerfile: everything comes from the locks."""

import glob
import os
import re

import pytest


@pytest.fixture
def instructions(root):
    """The Dockerfile's instructions, continued lines joined and comments left out."""
    with open(os.path.join(root, "docker", "Dockerfile")) as file:
        text = re.sub(r"^\s*#.*\n", "", file.read(), flags=re.MULTILINE)
    return re.sub(r"\\\n\s*", "", text).splitlines()


def test_every_package_is_installed_by_hash_and_nothing_is_fetched_otherwise(instructions):
    runs = [line for line in instructions if line.startswith("RUN ")]
    installs = [line for line in runs if "pip install" in line]
    assert len(installs) == 2
    assert all("--require-hashes" in line and line.count("pip install") == 1 for line in installs)
    assert not any(re.search(r"\b(apt|apt-get|dpkg|curl|wget|git|npm|conda)\b", line) for line in runs)
    assert not any(re.match(r"ADD\b|COPY .*://", line) for line in instructions)


def test_every_stage_is_the_base_or_built_on_it_and_the_base_has_a_tag(instructions):
    stages = [line for line in instructions if line.startswith("FROM ")]
    assert [stage.split()[1] for stage in stages] == ["${BASE_IMAGE}", "dependencies", "${BASE_IMAGE}", "${BASE_IMAGE}"]
    (default,) = [line for line in instructions if line.startswith("ARG BASE_IMAGE=")]
    assert re.match(r"ARG BASE_IMAGE=[a-z/]+:(?!latest)[\w.-]+$", default)


def test_the_program_runs_as_no_root_from_the_last_stage_on(instructions):
    last = instructions[max(number for number, line in enumerate(instructions) if line.startswith("FROM ")) :]
    assert [line for line in last if line.startswith("USER ")] == ["USER 1000:1000"]


def test_cudas_cache_holds_all_kernels_of_a_generation(instructions):
    """CUDA's own 256 MiB would have every start compile again; docs/gpus.md names the size."""
    (size,) = [int(found) for line in instructions for found in re.findall(r"\bCUDA_CACHE_MAXSIZE=(\d+)", line)]
    assert size == 2 * 2**30


def test_the_version_is_said_last_so_that_a_new_one_builds_no_layer_anew(instructions):
    (label,) = [number for number, line in enumerate(instructions) if "org.opencontainers.image.version" in line]
    assert instructions[label] == 'LABEL org.opencontainers.image.version="${CODE_VERSION}"'
    assert not any(re.match("(COPY|RUN|ADD) ", line) for line in instructions[label:])


def test_it_copies_what_is_there(instructions, root):
    copied = [line.split()[1:-1] for line in instructions if line.startswith("COPY ") and "--from=" not in line]
    for pattern in (pattern for patterns in copied for pattern in patterns):
        assert glob.glob(os.path.join(root, pattern)), pattern
