"""`entrypoint.py data`: which dataset is made where, and what a training makes by itself."""

import io

import pytest

from common.errors import Refused
from tfod_train.commands import data
from tfod_train.process.console import Console


@pytest.fixture
def make(monkeypatch, read_settings, tmp_path):
    """function(*arguments, **settings) -> (exit code, arguments of data_prep or None); DATA_DIR is tmp_path."""

    def run(*arguments, **settings):
        given = []
        monkeypatch.setattr("data_prep.__main__.main", lambda argv: given.append(argv) or 7)
        code = data.make(read_settings(DATA_DIR=str(tmp_path), **settings), None, list(arguments))
        return code, given[0] if given else None

    return run


def test_a_built_in_dataset_goes_into_data_dir(make, tmp_path):
    assert make("mini-pets") == (7, ["mini-pets", "--out", f"{tmp_path}/mini-pets"])
    assert make() == (7, ["mini-pets", "--out", f"{tmp_path}/mini-pets"])
    assert make("mini-pets", "--workers", "2")[1][-2:] == ["--workers", "2"]


def test_pets_are_downloaded_unless_they_are_there(make, tmp_path):
    assert make("pets") == (7, ["pets", "--out", f"{tmp_path}/pets", "--download"])
    assert "--download" not in make("pets", "--source", "mine")[1]
    assert make("pets", "--download")[1].count("--download") == 1


def test_pets_that_a_setting_means_are_not_downloaded_without_being_asked(make, tmp_path):
    with pytest.raises(Refused) as refused:
        make(DATASET="pets")
    assert refused.value.code == 3 and "make pets-tfrecord" in refused.value.do
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / "dataset.json").write_text("{}")
    assert make(DATASET="pets") == (0, None)


def test_a_folder_of_ones_own_needs_no_making(make, tmp_path):
    (tmp_path / "mine").mkdir()
    assert make(DATASET=str(tmp_path / "mine")) == (0, None)


@pytest.mark.parametrize("name", ["voc", "coco", "label-studio", "dataset"])
def test_images_of_ones_own_are_converted_where_the_user_says(make, name):
    assert make(name, "--source", "a", "--out", "b") == (7, [name, "--source", "a", "--out", "b"])


def test_what_is_no_dataset_is_refused_with_those_there_are(make):
    with pytest.raises(Refused, match="There is no dataset cats to make.") as refused:
        make("cats")
    assert refused.value.code == 2 and "pets, mini-pets" in refused.value.do


def test_a_training_makes_the_built_in_dataset_alone_and_only_where_it_is_missing(monkeypatch, read_settings, tmp_path):
    made, terminal = [], io.StringIO()
    monkeypatch.setattr("data_prep.mini_pets.generate.prepare", made.append)
    for dataset in ("pets", "mini-pets"):
        data.ensure(read_settings(DATA_DIR=str(tmp_path), DATASET=dataset), Console(terminal))
    assert made == [f"{tmp_path}/mini-pets"]
    assert terminal.getvalue() == f"Making the built-in dataset mini-pets in {tmp_path}/mini-pets.\n"
    (tmp_path / "mini-pets").mkdir()
    (tmp_path / "mini-pets" / "dataset.json").write_text("{}")
    data.ensure(read_settings(DATA_DIR=str(tmp_path)), Console(terminal))
    assert len(made) == 1
