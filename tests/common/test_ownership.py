"""What a command writes goes into an empty folder or over its own files, and nobody else's is touched."""

import os

import pytest

from common import ownership
from common.errors import UsageError


def test_only_what_a_list_names_is_ours(tmp_path):
    folder = str(tmp_path)
    assert ownership.foreign(folder) == []
    ownership.claim(folder, ["a.jpg", "b.json"])
    for name in ("a.jpg", "b.json", "notes.txt", ".a.jpg.12.tmp", ".notes.tmp", ".other.3.tmp", ".DS_Store"):
        (tmp_path / name).write_text("")
    assert ownership.foreign(folder) == [".notes.tmp", ".other.3.tmp", "notes.txt"]
    assert ownership.foreign(folder, {"notes.txt"}) == [".notes.tmp", ".other.3.tmp"]


def test_a_list_grows_and_forgets_what_is_gone(tmp_path):
    folder = str(tmp_path)
    ownership.claim(folder, ["a", "b"])
    (tmp_path / "a").write_text("")
    ownership.claim(folder, ["c"], known=["d"])
    assert ownership.listed(folder) == {"a", "c", ownership.LIST}


def test_what_is_not_there_goes_off_the_list_and_an_empty_list_goes(tmp_path):
    ownership.settle(str(tmp_path))
    ownership.claim(str(tmp_path), ["a", "b"])
    (tmp_path / "b").write_text("")
    ownership.settle(str(tmp_path))
    assert ownership.listed(str(tmp_path)) == {"b", ownership.LIST}
    (tmp_path / "b").unlink()
    ownership.settle(str(tmp_path))
    assert os.listdir(str(tmp_path)) == []


def test_names_that_are_no_text_are_listed_too(tmp_path):
    name = os.fsdecode(b"bro\xffken.jpg")
    ownership.claim(str(tmp_path), [name])
    assert name in ownership.listed(str(tmp_path))


@pytest.mark.parametrize("text", ["", "[1]", '{"files": 3}', '{"files": [null, "../a", "b/c", ""]}', "\xff"])
def test_a_damaged_list_makes_nothing_ours(text, tmp_path):
    (tmp_path / ownership.LIST).write_text(text, encoding="latin-1")
    (tmp_path / "a").write_text("")
    assert ownership.foreign(str(tmp_path)) == ["a"]


def test_what_is_in_the_way_is_named_and_stays(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.txt").write_text("mine")
    with pytest.raises(UsageError) as refused:
        ownership.refuse_foreign(str(tmp_path))
    assert refused.value.code == 2
    assert "7 files that this program did not write: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2" in refused.value.what
    assert len(os.listdir(str(tmp_path))) == 7
