"""Datasets that configs are fitted to."""

import pytest

from tests import cells


@pytest.fixture(scope="session")
def cells_folder(tmp_path_factory):
    """A converted set of tiny, medium and large objects; do not write to it."""
    return cells.converted(tmp_path_factory.mktemp("cells"), 24)


@pytest.fixture
def cells_dataset(cells_folder, read_settings):
    from tfod_train.config import dataset

    return dataset.load(read_settings(DATASET=str(cells_folder)))
