"""What people can run is written down once: COMMANDS, and everything else is held against it."""

import importlib
import inspect
import os
import re

import pytest
import yaml

from common.commands import COMMANDS
from common.project import PROJECT_DIR

# `data` makes several datasets; make has a target for each that can be made without naming files.
OTHER_TARGETS = {"data": {"mini-pets", "pets-tfrecord", "dataset"}}
# Programs of others that run in the project's image.
OTHER_SERVICES = {"tensorboard"}


def read(name):
    with open(os.path.join(PROJECT_DIR, name), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_make_target(name):
    targets = set(re.findall(r"^([a-z-]+):.*##", read("Makefile"), re.MULTILINE))
    assert OTHER_TARGETS.get(name, {name}) <= targets


def test_each_command_is_a_service_of_compose_and_no_other_is():
    services = set(yaml.safe_load(read("compose.yaml"))["services"])
    assert services - OTHER_SERVICES == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_a_function_of_settings_console_and_arguments(name, protos):
    module, function = COMMANDS[name].function.split(":")
    signature = inspect.signature(getattr(importlib.import_module(module), function))
    assert list(signature.parameters) == ["settings", "console", "arguments"]


def test_the_launcher_runs_each_command():
    from launcher import __main__ as launcher

    assert all(f"  {name} " in launcher.usage() for name in COMMANDS)
