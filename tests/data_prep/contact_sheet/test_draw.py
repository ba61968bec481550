"""What stands on the sheet can be read; test_collect.py has what is drawn of records."""

from data_prep.contact_sheet import draw


def test_a_name_is_one_line_that_can_be_read():
    assert draw.legible("a" * 50, 20) == "a" * 10 + "\u2026" + "a" * 9
    assert draw.legible("\u03b3\u03ac\u03c4\u03b1\n$5", 20) == "\u03b3\u03ac\u03c4\u03b1\ufffd\\$5"
    # No font has this private character; it stays recognisable.
    assert draw.legible("x\U0010fffd", 20) in ("x\\u10fffd", "x\ufffd")
