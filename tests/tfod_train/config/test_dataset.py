"""Which dataset the settings mean."""

import pytest

from common.errors import Refused
from tfod_train.config import dataset as datasets


def test_mini_pets_is_meant_where_no_pets_are_prepared(tmp_path, read_settings):
    name, folder, _ = datasets.locate(read_settings(DATA_DIR=str(tmp_path)))
    assert (name, folder) == ("mini-pets", str(tmp_path / "mini-pets"))


def test_prepared_pets_are_found_and_it_is_said_how_to_get_the_built_in_ones(tmp_path, read_settings):
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / "dataset.json").write_text("{}")
    name, _, how = datasets.locate(read_settings(DATA_DIR=str(tmp_path)))
    assert name == "pets" and "DATASET=mini-pets" in how


def test_a_misspelt_dataset_gets_the_nearest(read_settings):
    with pytest.raises(Refused) as refused:
        datasets.locate(read_settings(DATASET="minipets"))
    assert (refused.value.do, refused.value.code) == ("Did you mean mini-pets?", 2)


@pytest.mark.parametrize(
    "content, sentence", [(None, "holds no dataset.json"), ("{", "is damaged: it is not valid JSON")]
)
def test_a_dataset_that_was_not_finished_is_refused(content, sentence, tmp_path, read_settings):
    (tmp_path / "pets").mkdir()
    if content is not None:
        (tmp_path / "pets" / "dataset.json").write_text(content)
    with pytest.raises(Refused) as refused:
        datasets.load(read_settings(DATA_DIR=str(tmp_path), DATASET="pets"))
    assert sentence in refused.value.what
    assert ("make pets-tfrecord" in refused.value.do, refused.value.code) == (True, 3)


def test_shards_that_are_gone_or_empty_are_named(dataset, read_settings):
    with pytest.raises(Refused) as refused:
        datasets.load(read_settings(DATASET=dataset.folder))
    assert refused.value.code == 3
