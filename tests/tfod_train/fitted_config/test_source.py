"""Which config a training takes where none is named."""

import os
import shutil

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def own(cells_folder, tmp_path, read_settings):
    """(settings, Dataset) of a copy of the cells."""
    from tfod_train.config import dataset

    shutil.copytree(str(cells_folder), str(tmp_path / "mine"))
    settings = read_settings(DATASET=str(tmp_path / "mine"), DEVICE="cpu", RUN_DIR=str(tmp_path / "run"))
    return settings, dataset.load(settings)


def test_a_known_dataset_has_its_default(read_settings, dataset):
    from tfod_train.fitted_config import source

    found = source.of(read_settings(DEVICE="cpu"), dataset)
    assert found.path.endswith("configs/ssd_mobilenet_v1_mini_pets.config") and found.text is None and found.how == ""


def test_one_is_written_for_a_set_of_ones_own_and_nothing_is_written_yet(own, tmp_path):
    from tfod_train.fitted_config import source

    found = source.of(*own)
    assert found.path == str(tmp_path / "run" / "fitted.config") and found.path in found.how
    assert "ssd_mobilenet_v1_fpn" in found.text and not os.path.exists(str(tmp_path / "run"))


def test_the_runs_own_is_taken_again(own, tmp_path):
    from tfod_train.fitted_config import source

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "fitted.config").write_text("changed by hand")
    found = source.of(*own)
    assert found.text is None and found.path == str(tmp_path / "run" / "fitted.config")


def test_the_one_in_the_datasets_folder_comes_first_and_is_said(own, tmp_path):
    from tfod_train.fitted_config import source

    (tmp_path / "mine" / "a.config").write_text("model {}")
    found = source.of(*own)
    assert found.path == str(tmp_path / "mine" / "a.config") and found.path in found.how


def test_of_several_none_is_taken(own, tmp_path):
    from tfod_train.fitted_config import source

    for name in ("a.config", "b.config"):
        (tmp_path / "mine" / name).write_text("model {}")
    with pytest.raises(Refused, match="holds several configs: a.config, b.config"):
        source.of(*own)


def test_a_config_that_is_named_is_taken(own, tmp_path, read_settings):
    from tfod_train.fitted_config import source

    (tmp_path / "named.config").write_text("")
    settings = own[0].copy(update={"pipeline_config": str(tmp_path / "named.config")})
    assert source.of(settings, own[1]).path == str(tmp_path / "named.config")


def test_a_conversion_leaves_configs_beside_its_records(own, tmp_path):
    from data_prep.writer import ownership

    (tmp_path / "mine" / "a.config").write_text("model {}")
    ownership.refuse_foreign(str(tmp_path / "mine"))
    assert "a.config" not in ownership.ours(str(tmp_path / "mine"))
