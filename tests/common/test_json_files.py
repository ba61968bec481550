"""JSON is read as it was written, is nothing where there is no file, and is refused where it is damaged."""

import pytest

from common import json_files
from common.errors import Refused


def test_what_was_written_is_read_and_no_file_is_none(tmp_path):
    path = str(tmp_path / "a.json")
    assert json_files.read_json(path) is None
    json_files.write_json(path, {"b": [1.5, None], "a": "\u732b"})
    assert json_files.read_json(path) == {"a": "\u732b", "b": [1.5, None]}


@pytest.mark.parametrize("content", [b"{", b"", b"\xff"])
def test_what_is_damaged_is_refused_with_what_to_do(content, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(Refused) as refused:
        json_files.read_json(str(path), "Make it anew.")
    assert (refused.value.what, refused.value.do, refused.value.code) == (
        f"{path} is damaged: it is not valid JSON.",
        "Make it anew.",
        3,
    )
