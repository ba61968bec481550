"""The layout keeps its shape: one direction, no circle, small folders, few arguments (python -m tests.layout)."""

import pytest

from tests import layout

# A folder of one module a plug-in may be as large as its list.
PLUG_POINTS = {"object_detection_patches/patches"}


def test_imports_go_one_way():
    assert layout.wrong_arrows() == []


def test_no_modules_import_each_other_round():
    assert layout.circles() == []


def test_no_folder_holds_more_than_a_dozen_modules():
    assert {
        folder: count for folder, count in layout.folders().items() if count > 12 and folder not in PLUG_POINTS
    } == {}


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
