"""Which format a folder is in."""

import pytest

from common.errors import DataError
from data_prep.__main__ import main
from data_prep.formats import find
from tests.data_prep.formats.truth import EVERY, TRUTH, as_csv, as_yolo, boxes


@pytest.mark.parametrize("name, write", EVERY, ids=[write.__name__ for _, write in EVERY])
def test_the_format_is_found_by_the_content(folder, tmp_path, name, write, capsys):
    write(folder)
    assert main(["dataset", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--shards", "1"]) == 0
    assert capsys.readouterr().out.startswith(f"Format: {name}, found in ")
    assert boxes(tmp_path / "out") == TRUTH


def test_several_formats_are_named_and_one_may_be_asked_for(folder, tmp_path, capsys):
    as_yolo(folder)
    as_csv(folder)
    command = ["dataset", "--source", str(folder.root), "--out", str(tmp_path / "out"), "--shards", "1"]
    assert main(command) == 3
    assert "several formats: csv (1 file), yolo (4 files)" in capsys.readouterr().err
    assert main(command + ["--format", "csv"]) == 0
    assert main(command + ["--format", "ylo"]) == 2
    assert "Did you mean yolo?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "file, told",
    [("x.mat", "MATLAB's files"), ("x.tfrecord", "records"), ("x.parquet", "Parquet"), ("x.zip", "an archive")],
)
def test_what_is_not_read_is_told_with_the_nearest_way(folder, file, told):
    folder.write(file, b"\0")
    with pytest.raises(DataError, match=told):
        find.find(str(folder.root), ["voc"])
