"""PLUGINS: modules of the user's own, imported after TensorFlow and the API, to add to what they know.

A plug-in is a module's name, or the path of a .py file. What it does when it is imported is all there is to it: it
adds feature extractors to object_detection.builders.model_builder, or observers to tfod_train.observers.OBSERVERS.
"""

import hashlib
import importlib
import importlib.util
import os
import sys
from typing import List, Optional

from common.errors import Refused
from tfod_train.run.run_dir import RunDir


def names(plugins: Optional[str]) -> List[str]:
    """The plug-ins that PLUGINS lists, separated by commas."""
    return [name.strip() for name in (plugins or "").split(",") if name.strip()]


def of_run(plugins: Optional[str], run_dir: RunDir) -> Optional[str]:
    """PLUGINS, or where that is not set those that the run was trained with: its model may need them."""
    return plugins or run_dir.read_manifest().get("settings", {}).get("plugins")


def check(plugins: Optional[str]) -> None:
    """Raises Refused where one cannot be found; imports nothing but the packages that it lies in."""
    for name in names(plugins):
        if name.endswith(".py"):
            there = os.path.isfile(name)
        else:
            there = _is_there(name)
        if not there:
            raise Refused(
                f"PLUGINS={name} is not there.",
                "Name a module that Python finds from here, or the path of a .py file; several are separated by "
                "commas.",
            )


def load(plugins: Optional[str]) -> None:
    """Imports them, each once. Raises Refused for one that cannot be imported, with its own error's words."""
    for name in names(plugins):
        try:
            _import(name)
        except Exception as error:
            raise Refused(
                f"PLUGINS={name} ends with {type(error).__name__}: {error}.",
                "Correct the plug-in; train.log has the lines.",
            ) from error


def _is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _import(name):
    if not name.endswith(".py"):
        importlib.import_module(name)
        return
    # By its whole path: two files may share a name.
    module_name = "plugin_" + hashlib.sha256(os.path.realpath(name).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    if module_name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(module_name, name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
