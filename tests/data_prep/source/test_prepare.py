"""Around a conversion: nothing where the dataset is there, one process at a time."""

import subprocess

import pytest

from common.errors import DataError
from data_prep.check import quick
from data_prep.source import prepare
from tests.data_prep.prepared import command, shard_hashes


def test_a_second_run_does_nothing(raw, tmp_path, capsys):
    dataset = raw.convert(tmp_path / "out")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    capsys.readouterr()
    assert raw.convert(tmp_path / "out") == dataset
    assert "already complete: 14 train images and 6 val images" in capsys.readouterr().out
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before


def test_a_changed_annotation_is_converted_again(raw, tmp_path):
    first = raw.convert(tmp_path / "out")
    raw.annotate("pug_3", (1, 1, 20, 20))
    assert shard_hashes(raw.convert(tmp_path / "out")) != shard_hashes(first)


def test_a_missing_shard_is_made_again(raw, tmp_path):
    dataset = raw.convert(tmp_path / "out")
    (tmp_path / "out" / dataset["splits"]["train"]["shards"][1]["file"]).unlink()
    assert raw.convert(tmp_path / "out") == dataset
    assert quick.quick(str(tmp_path / "out")) == []


def test_strict_allows_no_skip_at_all_even_of_what_is_there_already(raw, tmp_path, capsys):
    raw.convert(tmp_path / "strict", strict=True)
    raw.remove("annotations/xmls/pug_1.xml")
    raw.convert(tmp_path / "out", max_skipped=0)
    capsys.readouterr()
    with pytest.raises(DataError, match="1 of 20 images.*--strict allows none"):
        raw.convert(tmp_path / "out", strict=True)
    assert "pug_1" in capsys.readouterr().out


def test_two_runs_at_once_wait_for_each_other(raw, tmp_path):
    arguments = command("pets", "--source", raw.root, "--out", tmp_path / "out", "--shards", "2")
    both = [subprocess.Popen(arguments, stdout=subprocess.PIPE) for _ in range(2)]
    message = sorted(process.communicate()[0].decode() for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert sum("is ready in" in text for text in message) == 1
    assert sum("already complete" in text for text in message) == 1


@pytest.mark.parametrize("path, name", [("data/mine", "mine"), ("data/mine/", "mine"), ("data/x/../mine", "mine")])
def test_a_dataset_is_called_as_its_folder_is(path, name):
    assert prepare.dataset_name(path) == name


def test_a_folder_of_others_is_refused_before_annotations_are_read(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="notes.txt"):
        prepare.prepare(lambda: pytest.fail("it was read"), str(tmp_path))
