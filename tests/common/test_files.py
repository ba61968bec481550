"""A file is whole under its name or not there, and what was left unfinished is removed."""

import errno
import fcntl
import os

import pytest

from common import files
from common.errors import DataError


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    files.write_text(str(path), "old \u732b")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError):
        files.write(str(path), b"new")
    assert path.read_text(encoding="utf-8") == "old \u732b" and os.listdir(str(tmp_path)) == ["file"]
    files.write(str(path), b"new", durable=False)
    assert files.read(str(path)) == b"new" and files.size(str(path)) == 3
    assert files.size(str(tmp_path / "none")) == 0


def test_only_what_killed_runs_left_is_removed(tmp_path):
    files.write_temporary(str(tmp_path / "shard"), b"half")
    (tmp_path / ".folder.1.tmp").mkdir()
    (tmp_path / ".folder.1.tmp" / "part").write_bytes(b"half")
    for name in (".hidden", "mine.tmp"):
        (tmp_path / name).write_bytes(b"mine")
    files.remove_temporaries(str(tmp_path))
    assert sorted(os.listdir(str(tmp_path))) == [".hidden", "mine.tmp"]


def test_what_the_file_system_refuses_is_a_sentence_with_the_file(tmp_path):
    with pytest.raises(DataError) as refused, files.file_errors():
        open(str(tmp_path / "none"))
    assert str(refused.value).startswith(f"{tmp_path / 'none'}: No such file or directory.")
    with pytest.raises(BrokenPipeError), files.file_errors():
        raise BrokenPipeError


def test_a_folder_is_made_and_held_against_others(tmp_path):
    folder = tmp_path / "data"

    def is_free():
        handle = os.open(str(folder), os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        finally:
            os.close(handle)

    with files.locked(str(folder)):
        assert not is_free()
    assert is_free()


def test_what_a_killed_process_was_writing_is_found_by_the_name_it_would_have_got(tmp_path):
    for name in (".a.json.12.tmp", ".a.json.x.tmp", ".b.json.12.tmp", "a.json"):
        (tmp_path / name).write_text("")
    assert files.unfinished(str(tmp_path / "a.json")) == [".a.json.12.tmp"]
