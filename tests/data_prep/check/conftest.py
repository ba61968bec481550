"""A label map for the records of this room's tests."""

import pytest

MAP = 'item {\n  id: 1\n  name: "cat"\n}\nitem { id: 2 name: "dog" display_name: "Hund" }\n'


@pytest.fixture
def label_map(tmp_path):
    (tmp_path / "map.pbtxt").write_text(MAP, encoding="utf-8")
    return str(tmp_path / "map.pbtxt")
