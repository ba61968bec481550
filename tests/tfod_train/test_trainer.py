"""The list of trainers, as settings and config read it."""

import importlib.util

import pytest

from tfod_train import settings
from tfod_train.trainer import TRAINERS, Trainer


@pytest.mark.parametrize("name", TRAINERS)
def test_a_trainer_can_be_chosen_and_its_module_is_there(name):
    assert settings.read({"TRAINER": name}).trainer.value == name
    assert importlib.util.find_spec(TRAINERS[name].module) is not None


@pytest.mark.parametrize("name", TRAINERS)
def test_a_setting_that_is_a_trainers_own_is_one_and_no_other_trainer_has_it(name):
    for variable in TRAINERS[name].own_settings:
        assert hasattr(settings.Settings(), variable.lower())
        assert [each for each, trainer in TRAINERS.items() if variable in trainer.own_settings] == [name]


def test_it_is_loaded_when_it_is_asked_for(tmp_path, monkeypatch):
    (tmp_path / "a_trainer.py").write_text("def train(parts):\n    return parts\n")
    trainer = Trainer("a_trainer", (), False, False)  # names a module that cannot be imported yet
    monkeypatch.syspath_prepend(str(tmp_path))
    assert trainer.load()("steps") == "steps"
