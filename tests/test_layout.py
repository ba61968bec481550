"""The layout keeps its shape: one direction, no circle, small folders, few arguments (python -m tests.layout)."""

import os
import re

import pytest

from common.project import PROJECT_DIR
from tests import layout

# A folder of one module a plug-in may be as large as its list.
PLUG_POINTS = {"object_detection_patches/patches"}
ONE_STEP = "tests/object_detection_patches/test_one_optimisation.py"
# {module without a test file of its name: the test file that holds it}.
TESTED_ELSEWHERE = {
    # One step of each of these is compared at once: every model that is built costs seconds.
    "object_detection_patches/patches/clip_summed_gradient.py": ONE_STEP,
    "object_detection_patches/patches/mine_every_image.py": ONE_STEP,
    "object_detection_patches/patches/same_trained_variables.py": ONE_STEP,
    "object_detection_patches/patches/same_training_summaries.py": ONE_STEP,
    "object_detection_patches/patches/weight_decay_under_strategy.py": ONE_STEP,
    "object_detection_patches/patches/whole_batch_loss.py": ONE_STEP,
    # A type alone, without a function: what fills it in is tested.
    "data_prep/writer/outcome.py": "tests/data_prep/writer/test_shard_workers.py",
    "tfod_train/observers/training.py": "tests/tfod_train/observers/test_base.py",
}


def test_imports_go_one_way():
    assert layout.wrong_arrows() == []


def test_no_modules_import_each_other_round():
    assert layout.circles() == []


def test_no_folder_holds_more_than_a_dozen_modules():
    assert {
        folder: count for folder, count in layout.folders().items() if count > 12 and folder not in PLUG_POINTS
    } == {}


def test_a_modules_tests_are_found_by_its_name():
    assert [path for path in layout.without_test_file() if path not in TESTED_ELSEWHERE] == []


def test_what_is_tested_elsewhere_is():
    """No module stays in the table that is gone or has a file of its own, and the file that is named is about it."""
    assert sorted(TESTED_ELSEWHERE) == [path for path in layout.without_test_file() if path in TESTED_ELSEWHERE]
    for module, path in TESTED_ELSEWHERE.items():
        name = os.path.basename(module)[: -len(".py")]
        with open(os.path.join(PROJECT_DIR, path), encoding="utf-8") as file:
            assert re.search(rf"\b{name}\b", file.read()), f"{path} does not mention {name}"


def test_a_module_without_tests_would_be_found(monkeypatch):
    monkeypatch.setattr(
        layout, "modules", lambda: {"a": "common/text.py", "b": "common/nothing.py", "c": "common/__init__.py"}
    )
    assert layout.without_test_file() == ["common/nothing.py"]


def test_functions_take_few_arguments_and_are_short():
    every = list(layout.functions())
    assert [one.where for one in every if len(one.arguments) > 6] == []
    assert [one.where for one in every if one.lines > 60] == []
    assert sorted(one.lines for one in every)[len(every) // 2] <= 10


def test_what_others_use_is_annotated():
    assert [one.where for one in layout.functions() if one.public and not one.annotated] == []


def test_a_run_travels_as_one_object():
    assert len(layout.several_parts_of_a_run()) < 10


@pytest.mark.parametrize(
    "one, other, fits",
    [
        ("tfod_train.commands.train", "tfod_train.trainers.session", True),
        ("tfod_train.run.run_dir", "tfod_train.trainers.session", False),
        ("tfod_train.hooks.step", "tfod_train.evaluation.evaluator", False),
        ("data_prep.cli", "tfod_train.settings", False),
        ("common.files", "data_prep.cli", False),
        ("launcher.where", "tfod_train.devices.gpus", True),
        ("launcher.where", "tfod_train.settings", False),
    ],
)
def test_an_arrow_against_the_direction_would_be_found(one, other, fits, monkeypatch):
    monkeypatch.setattr(layout, "imports", lambda: {(one, other)})
    assert (layout.wrong_arrows() == []) == fits


def test_a_circle_would_be_found(monkeypatch):
    monkeypatch.setattr(layout, "modules", lambda: dict.fromkeys("abcd", ""))
    monkeypatch.setattr(layout, "imports", lambda: {("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")})
    assert layout.circles() == [["a", "b", "c"]]
