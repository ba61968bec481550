"""Where the records of a dataset.json lie."""

import os

from data_prep.writer import shards


def test_converted_records_are_read_by_their_pattern_and_adopted_ones_by_name():
    split = {"pattern": "a-*", "shards": [{"file": "a-0"}]}
    assert shards.patterns("data/mine", split) == ["data/mine/a-*"]
    del split["pattern"]
    assert shards.patterns("data/mine", {"shards": [{"file": "../x/a-0"}, {"file": "/y/b"}]}) == ["data/x/a-0", "/y/b"]


def test_files_below_the_same_folder_are_named_from_there_and_others_in_full(tmp_path):
    mine = str(tmp_path / "data" / "mine")
    assert shards.adopted_name(mine, str(tmp_path / "data" / "x" / "a")) == "../x/a"
    assert shards.adopted_name(mine, "/elsewhere/a") == "/elsewhere/a"
    os.makedirs(str(tmp_path / "real"))
    os.makedirs(str(tmp_path / "data"))
    os.symlink(str(tmp_path / "real"), mine)
    assert shards.adopted_name(mine, str(tmp_path / "data" / "x")) == str(tmp_path / "data" / "x")
