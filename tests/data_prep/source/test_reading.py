"""What formats read from files: entries, and text, JSON and numbers that anybody may have written."""

import pytest

from common.errors import DataError
from data_prep.images.boxes import Box
from data_prep.source import reading
from data_prep.source.annotation import Annotation, Object


def test_an_entry_knows_of_its_content_what_is_looked_at_before_the_images():
    content = Annotation(80, 60, [Object(Box(1, 2, 30, 4), "cat"), Object(None, "dog")], unit="percent")
    entry = reading.entry("a.jpg", "x.json", content, split="val")
    assert (entry.classes, entry.largest, entry.size, entry.unit) == (("cat", "dog"), 30, (80, 60), "percent")
    assert (entry.split, reading.load(entry)) == ("val", content)
    assert reading.entry("a.jpg", "x.json", Annotation(0, 0, [])).largest == 0


def test_an_annotation_is_read_anew_or_its_reason_is_told():
    content = Annotation(1, 1, [])
    assert reading.load(reading.entry("a", "x", content, annotation=lambda: content)) is content
    with pytest.raises(ValueError, match="it is torn"):
        reading.load(reading.Entry("a", "x", None, problem="it is torn"))


def test_files_of_something_else_are_told_and_count_in_the_digest(tmp_path):
    def read(name, content):
        return [f"{name} {content.decode()}"] if content.startswith(b"yes") else None

    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("yes 1")
    (tmp_path / "b.txt").write_text("no")
    (tmp_path / "c.csv").write_text("yes")
    found = reading.of_folder(str(tmp_path), ".txt", read, "texts")
    assert (found.entries, found.foreign) == (["sub/a.txt yes 1"], ["b.txt"])
    digests = {found.digest}
    for content in ("no!", "yes 1"):
        (tmp_path / "b.txt").write_text(content)
        digests.add(reading.of_folder(str(tmp_path), ".txt", read, "texts").digest)
    assert len(digests) == 3


def test_a_folder_of_nothing_that_is_read_names_what_it_holds(tmp_path):
    (tmp_path / "b.txt").write_text("no")
    with pytest.raises(DataError, match="holds no texts; it holds b.txt"):
        reading.of_folder(str(tmp_path), ".txt", lambda name, content: None, "texts")
    with pytest.raises(DataError, match="There is no folder"):
        reading.of_folder(str(tmp_path / "none"), ".txt", lambda name, content: [], "texts")


def test_a_text_is_utf_8_with_or_without_its_mark():
    assert reading.text_of("a", "\ufeffä".encode("utf-8")) == "ä"
    with pytest.raises(DataError, match="a.txt is not a text file in UTF-8"):
        reading.text_of("a.txt", b"\xff\xfe")


@pytest.mark.parametrize(
    "content, found",
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b"{", None),
        (b"\xff", None),
        (b"[" * 100000, None),
        (b'{"\\ud83d": ["\\ude00"]}', {"\ufffd": ["\ufffd"]}),
        (b'["\\ud83d\\ude00"]', ["\U0001f600"]),
    ],
)
def test_json_is_what_a_record_can_hold_or_none(content, found):
    assert reading.json_of(content) == found


@pytest.mark.parametrize("value, number", [(1, 1.0), ("2.5", 2.5), (" 3 ", 3.0), (-1e15, -1e15)])
def test_a_number_is_taken_from_json_and_text(value, number):
    assert reading.number(value) == number


@pytest.mark.parametrize("value", [True, None, "nan", float("inf"), "x", [], 1e16, "1e400"])
def test_what_is_no_number_is_a_value_error(value):
    with pytest.raises(ValueError):
        reading.number(value)
