"""What can be wrong with records."""

from data_prep.check import problems


def test_every_finding_says_what_is_wrong_and_what_to_do():
    for kind in problems.KINDS.values():
        assert kind.what.endswith(".") and kind.do.endswith(".") and kind.severity in ("error", "warning")
        assert len(kind.what) < 110 and len(kind.do) < 130
