"""Fixtures that several rooms share."""

import os
import resource

import hypothesis
import pytest

from object_detection_patches import source, tree

# Fixtures of whole trainings, for the rooms of tfod_train and the tests from end to end.
pytest_plugins = ["tests.training_fixtures"]

_VENV_API = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".venv", "api")

# Whether the tests pass is a matter of the code alone: neither of which examples chance picks, nor of how long one
# takes where others share the machine. `--hypothesis-profile searching` looks for new examples.
_NO_CLOCK = dict(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("repeatable", derandomize=True, **_NO_CLOCK)
hypothesis.settings.register_profile("searching", max_examples=1000, **_NO_CLOCK)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--without-patch",
        metavar="NAME",
        action="append",
        default=[],
        help="leave this patch out of the API under test, to see which tests hold it",
    )
    parser.addoption("--kills", type=int, default=6, help="how often test_kills.py kills a training")


@pytest.fixture(scope="session")
def cpu_secs():
    """function() -> CPU seconds of all processes that ended so far and were started here.

    That is how long they took where nothing else runs. The clock tells of what else runs, too.
    """

    def used():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    return used


@pytest.fixture(scope="session")
def pristine_api(tmp_path_factory):
    """A folder with the pinned API as it was fetched; do not write to it."""
    root = str(tmp_path_factory.mktemp("pristine") / "api")
    source.fetch(root)
    return root


@pytest.fixture(scope="session")
def api_dir(request, tmp_path_factory):
    """A folder with the patched API, to be put on the Python path; do not write to it."""
    patches = tree.select(without=request.config.getoption("--without-patch"))
    if os.path.isdir(_VENV_API):
        report = tree.verify(_VENV_API)
        if report.patches == tuple(patch.name for patch in patches) and not report.outdated + report.foreign:
            return _VENV_API
    root = str(tmp_path_factory.mktemp("patched") / "api")
    source.fetch(root)
    tree.apply(root, patches)
    return root


@pytest.fixture(scope="session")
def mini(tmp_path_factory):
    """The prepared mini-pets dataset, drawn once for all rooms (pathlib.Path); do not write to it."""
    from data_prep.mini_pets import generate

    out = tmp_path_factory.mktemp("data") / "mini-pets"
    generate.prepare(str(out))
    return out
