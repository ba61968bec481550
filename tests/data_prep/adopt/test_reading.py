"""Records that cannot be trained on are refused with the place and the cure."""

import gzip

import pytest

from tests.data_prep import foreign_records


def spoil_checksum(path):
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(bytes(data))


def cut(path):
    path.write_bytes(path.read_bytes()[:-5])


def compress(path):
    path.write_bytes(gzip.compress(path.read_bytes()))


def other(*payloads):
    return lambda path: foreign_records.write(path, *payloads)


@pytest.mark.parametrize(
    "spoil, words",
    [
        (spoil_checksum, "a.record-0"),
        (cut, "a.record-0"),
        (compress, "gzip -dc"),
        (other(foreign_records.example(0, labels=(3,))), "id 3"),
        (other(foreign_records.example(0, labels=(0,))), "id 0"),
        (other(foreign_records.example(0, texts=["horse"])), "horse"),
        (other(foreign_records.example(0, boxes=((0.1, 0.2, 1.5, 0.9),))), "a.record-0"),
        (other(b"no example"), "a.record-0"),
    ],
)
def test_a_fault_in_any_record_is_named(spoil, words, adopt, theirs, tmp_path, capsys):
    spoil(theirs / "a.record-0")
    assert adopt() == 3
    said = capsys.readouterr()
    assert "These records cannot be trained on: " in said.err and words in said.err + said.out
    assert not (tmp_path / "mine").exists()


def test_two_records_with_one_source_id_are_told(adopt, theirs, capsys):
    foreign_records.write(theirs / "b.record", foreign_records.example(90), foreign_records.example(90))
    code = adopt()
    said = capsys.readouterr()
    assert "source" in said.out and code in (0, 3)
