"""A record is found again by its offset; ../check/test_scan.py has what is read of damaged files."""

from data_prep.tfrecord import tolerant_reader
from tests.data_prep.foreign_records import write


def test_read_at_gives_the_record_that_scan_found(tmp_path):
    path = write(tmp_path / "a.record", b"one", b"", b"three")
    assert [tolerant_reader.read_at(path, read.offset) for read in tolerant_reader.scan(path)] == [
        b"one",
        b"",
        b"three",
    ]
