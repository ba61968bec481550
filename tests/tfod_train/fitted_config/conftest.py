"""Datasets that configs are fitted to."""

import pytest

from tests import cells


@pytest.fixture(scope="session")
def cells_folder(tmp_path_factory):
    """A converted set of tiny, medium and large objects; do not write to it."""
    from data_prep.__main__ import main as data_prep

    folder = tmp_path_factory.mktemp("cells")
    cells.draw(folder / "raw", 24)
    assert data_prep(["dataset", "--source", str(folder / "raw"), "--out", str(folder / "cells")]) == 0
    return folder / "cells"


@pytest.fixture
def cells_dataset(cells_folder, read_settings):
    from tfod_train.config import dataset

    return dataset.load(read_settings(DATASET=str(cells_folder)))
