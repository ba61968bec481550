"""Which records share an id or an image."""

import os

from data_prep.check.duplicates import Identities
from tests.data_prep import foreign_records as foreign
from tests.data_prep.check.scanning import check, find
from tests.data_prep.foreign_records import example, offsets, write


def test_ids_and_images_shared_between_shards_and_splits_are_told_apart(tmp_path):
    one = write(tmp_path / "train.record-00000-of-00002", example(0), example(1))
    two = write(tmp_path / "train.record-00001-of-00002", example(1, encoded=[foreign.image(9)]), example(2))
    val = write(
        tmp_path / "val.record",
        example(2),
        example(0, encoded=[foreign.image(8)]),
        example(5),
        example(6, encoded=[foreign.image(5)]),
    )
    report = check(tmp_path)
    assert sorted(report.splits) == ["train", "val"]
    assert find(report, "same-id") == (
        1,
        [{"file": two, "byte": 0, "id": "1.jpg", "detail": f"as {os.path.basename(one)} @ byte {offsets(one)[1]}"}],
    )
    assert [place["id"] for place in find(report, "id-in-two-splits")[1]] == ["0.jpg", "2.jpg"]
    assert find(report, "image-in-two-splits")[0] == 1
    assert [place["file"] for place in find(report, "same-image")[1]] == [val]


def test_records_without_an_id_are_not_said_to_share_one(tmp_path):
    report = check(write(tmp_path / "a.record", example(0, source_id=None), example(1, source_id=[""])))
    assert [(entry["kind"], entry["count"]) for entry in report.as_json()["findings"]] == [("no-id", 2)]


def identities(*records):
    """Of (file, split, offset, id, image)."""
    found = Identities()
    for record in records:
        found.add(*record)
    return found


def test_what_is_empty_equals_nothing_and_the_first_of_each_split_is_not_repeated():
    found = identities(
        ("a", "train", 0, b"one", b"x"),
        ("a", "train", 10, b"", b""),
        ("b", "train", 0, b"one", b"y"),
        ("c", "val", 0, b"one", b"x"),
        ("c", "val", 20, b"", b""),
    )
    assert list(found.repeated("id")) == [([0, 2, 3], [2], True)]
    assert list(found.repeated("image")) == [([0, 3], [], True)]
    assert (found.place(2), found.place(4)) == (("b", 0), ("c", 20))
    assert list(Identities().repeated("id")) == []


def test_a_sample_is_spread_evenly_and_never_larger_than_all():
    found = identities(*[("a", "train", n, b"", b"") for n in range(10)])
    assert found.sample(5) == [0, 2, 4, 6, 8]
    assert list(found.sample(99)) == list(found.sample(None)) == list(range(10))
