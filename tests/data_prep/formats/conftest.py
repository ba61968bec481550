"""A folder with the images whose boxes are known."""

import pytest

from tests.data_prep.formats.truth import Folder


@pytest.fixture
def folder(tmp_path, encode):
    return Folder(tmp_path / "source", encode)
