"""Reads what Docker reads, without an engine."""

import importlib.util
import os

import pytest
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def root():
    return ROOT


@pytest.fixture(scope="session")
def compose():
    """compose.yaml as a dict, variables not replaced."""
    with open(os.path.join(ROOT, "compose.yaml")) as file:
        return yaml.safe_load(file)


@pytest.fixture
def script():
    """function(name) -> the module docker/NAME.py, as in "locks/lock"; the folder is no package, as the SDK has its
    name."""

    def load(name):
        path = os.path.join(ROOT, "docker", f"{name}.py")
        spec = importlib.util.spec_from_file_location(os.path.basename(name), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
