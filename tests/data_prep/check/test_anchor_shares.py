"""How well a model's anchors fit the boxes of each class."""

from data_prep.check.anchor_shares import AnchorShares
from tests.data_prep.check.scanning import SMALL_SSD, check, facts_of, find, kinds
from tests.data_prep.foreign_records import example, write


def test_a_class_that_no_anchor_fits_is_named_with_its_share(tmp_path, label_map):
    path = write(
        tmp_path / "a.record",
        *[example(n, boxes=[(0.32, 0.32, 0.38, 0.38), (0.2, 0.2, 0.5, 0.5)], labels=[1, 2]) for n in range(4)],
    )
    report = check(path, label_map=label_map, config=facts_of(tmp_path))
    count, places = find(report, "no-anchor")
    assert count == 1 and places[0]["id"] == "cat"
    assert places[0]["detail"] == "0% of its boxes have an anchor of IoU 0.5 or more (0 of 4)"
    finer = facts_of(tmp_path, SMALL_SSD.replace("min_scale: 0.15", "min_scale: 0.06"))
    assert "no-anchor" not in kinds(check(path, label_map=label_map, config=finer))


def test_anchors_that_the_config_does_not_tell_are_said_not_to_have_been_looked_at(tmp_path, label_map):
    path = write(tmp_path / "a.record", example(0, boxes=[(0.3, 0.3, 0.31, 0.31)], labels=[1]))
    other = facts_of(tmp_path, SMALL_SSD.replace("ssd_mobilenet_v1", "embedded_ssd_mobilenet_v1"))
    report = check(path, label_map=label_map, config=other)
    assert "no-anchor" not in kinds(report) and any("anchors fit" in note for note in report.notes)


def test_boxes_that_are_none_and_objects_that_the_api_drops_count_for_no_class(tmp_path):
    shares = AnchorShares(facts_of(tmp_path))
    shares.see(
        [(0.32, 0.32, 0.38, 0.38), (0.5, 0.1, 0.2, 0.9), (4, 6, 20, 27), (0.32, 0.32, 0.38, 0.38)],
        ["cat", "cat", "cat", None],
        (160, 160),
    )
    assert list(shares.low()) == [("cat", "0% of its boxes have an anchor of IoU 0.5 or more (0 of 1)")]


def test_without_a_config_nothing_is_said():
    shares = AnchorShares(None)
    shares.see([(0.32, 0.32, 0.38, 0.38)], ["cat"], (160, 160))
    assert (list(shares.low()), shares.notes()) == ([], [])
