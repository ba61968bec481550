"""The thorough check: each fault of anybody's TFRecords is found, counted and placed, and only that."""

import os
import subprocess
import sys

import pytest

from data_prep.__main__ import main
from data_prep.check import problems, scan
from data_prep.tfrecord import codec
from tests.data_prep import foreign_records as foreign
from tests.data_prep.check.scanning import check, find, kinds
from tests.data_prep.foreign_records import example, offsets, write

NAN = float("nan")


def test_sound_records_of_other_people_have_no_finding(tmp_path, label_map):
    path = write(
        tmp_path / "train.record",
        *[
            example(n, labels=[1, 2], boxes=[(0, 0, 1, 1), (0.1, 0.1, 0.6, 0.7)], texts=["cat", "Hund"])
            for n in range(5)
        ],
    )
    report = check(path, label_map=label_map, num_classes=2)
    assert (kinds(report), report.fit, report.records, report.decoded) == ([], True, 5, 5)
    assert report.classes == {"cat": 5, "dog": 5} and report.splits["train"].boxes == 10


@pytest.mark.parametrize(
    "changes, kind, count, detail",
    [
        (dict(encoded=None), "no-image", 1, ""),
        (dict(encoded=[b""]), "no-image", 1, ""),
        (dict(encoded=[b"not an image"]), "image-broken", 1, "it is no image"),
        (dict(encoded=[foreign.image(kind="GIF")]), "image-format", 1, "GIF"),
        (dict(encoded=[foreign.image(kind="WEBP")]), "image-format", 1, "WEBP"),
        (dict(format=["raw"]), "image-format", 1, "says raw"),
        (dict(encoded=[foreign.cut_image()]), "image-broken", 1, "truncated"),
        (dict(width=[30], height=[40]), "size-differs", 1, "stated 30x40, is 40x30"),
        (dict(width=[40.0]), "wrong-type", 1, "image/width holds floats instead of int64"),
        (dict(object__class__label=["cat"]), "wrong-type", 1, "holds bytes instead of int64"),
        (dict(width=[40, 40]), "wrong-type", 1, "image/width holds 2 values instead of one"),
        (dict(object__bbox__xmin=codec.Floats([0.1, 0.2])), "list-lengths", 1, "bbox/xmin 2"),
        (dict(object__bbox__xmin=None), "list-lengths", 1, "bbox/xmin 0"),
        (dict(labels=[1, 2]), "list-lengths", 1, "class/label 2"),
        (dict(object__difficult=[0, 1]), "list-lengths", 1, "difficult 2"),
        (dict(boxes=[(4, 6, 20, 27)]), "box-in-pixels", 1, "box [4, 6, 20, 27]"),
        (dict(boxes=[(0.1, 0.1, 1.2, 0.9)]), "box-outside", 1, "box [0.1, 0.1, 1.2, 0.9]"),
        (dict(boxes=[(-0.2, 0.1, 0.5, 0.9)]), "box-outside", 1, "-0.2"),
        (dict(boxes=[(4, 6, 20, 500)]), "box-outside", 1, "500"),
        (dict(boxes=[(4, 6, 500, 20)]), "box-outside", 1, "500"),
        (dict(encoded=[foreign.turned_image()]), "image-turned", 1, "orientation 6"),
        (dict(boxes=[(0.5, 0.1, 0.2, 0.9)]), "box-inverted", 1, "0.5"),
        (dict(boxes=[(0.5, 0.1, 0.5, 0.9)]), "box-inverted", 1, "0.5"),
        (dict(boxes=[(0.5, 0.1, NAN, 0.9), (0.1, 0.1, float("inf"), 0.2)], labels=[1, 1]), "box-not-finite", 2, "nan"),
        (dict(labels=[0]), "class-id", 1, "id 0 instead of 1 to 2"),
        (dict(labels=[3, 3, 1], boxes=[(0, 0, 1, 1)] * 3), "class-id", 2, "id 3 instead of 1 to 2"),
        (dict(object__class__label=None), "class-missing", 1, ""),
        (dict(texts=["cow"]), "class-text", 1, "'cow'"),
        (dict(texts=["dog"]), "text-and-id", 1, "dog is 2 in the label map and 1 here"),
        (dict(source_id=None), "no-id", 1, ""),
        (dict(source_id=["0.jpg"]), "same-id", 1, "as a.record @ byte 0"),
        (dict(boxes=[(0, 0, 1, 1)] * 101, labels=[1] * 101), "many-boxes", 1, "101 boxes"),
        (dict(object__mask=[foreign.image(kind="PNG")] * 2), "mask-count", 1, "2 masks for 1 box"),
        (dict(object__mask=[1.0] * 1201), "mask-count", 1, "1201 mask values for 1 box of a 40x30 image"),
        (dict(object__mask=[1]), "wrong-type", 1, "instead of bytes (PNG) or floats"),
        (dict(object__mask=[foreign.image(size=(20, 30), kind="PNG")]), "mask-broken", 1, "mask of 20x30"),
        (dict(object__mask=[b"nothing"]), "mask-broken", 1, "it is no image"),
        (dict(boxes=[(0.1, 0.1, 0.12, 0.9)]), "small-box", 1, "1 of 1 boxes"),
    ],
)
def test_each_fault_of_a_record_is_found_counted_and_placed(tmp_path, label_map, changes, kind, count, detail):
    path = write(tmp_path / "a.record", example(0), example(1, **changes), example(2))
    report = check(path, label_map=label_map, num_classes=2, decode=None, resize=scan.input_size("300"))
    found, places = find(report, kind)
    assert found == count, kinds(report)
    assert places[0]["file"] == path and places[0]["byte"] == offsets(path)[1] and detail in places[0]["detail"]
    severity = problems.KINDS[kind].severity
    assert report.fit == (severity == problems.WARNING)


def test_a_box_over_by_a_rounded_last_digit_is_no_finding(tmp_path):
    report = check(write(tmp_path / "a.record", example(0, boxes=[(0, 0, 1.0000001, 1)])))
    assert kinds(report) == []


def test_what_is_just_within_a_limit_is_no_finding(tmp_path):
    path = write(tmp_path / "a.record", example(0, boxes=[(0, 0, 1, 1)] * 100, labels=[1] * 100))
    assert kinds(check(path)) == []


def test_a_flipped_bit_is_named_with_file_and_byte_and_the_other_records_are_read(tmp_path):
    path = write(tmp_path / "a.record", *[example(n) for n in range(4)])
    at = offsets(path)
    spoil(path, at[2] + 40)
    report = check(path)
    assert find(report, "checksum") == (
        1,
        [
            {
                "file": path,
                "byte": at[2],
                "id": "",
                "detail": f"{at[3] - at[2] - codec.OVERHEAD_BYTES} bytes cannot be read",
            }
        ],
    )
    assert report.records == 3


def test_after_a_damaged_length_the_rest_is_said_to_be_lost(tmp_path):
    path = write(tmp_path / "a.record", *[example(n) for n in range(4)])
    at = offsets(path)
    spoil(path, at[1])
    report = check(path)
    assert find(report, "broken-length")[1][0]["detail"] == f"{at[4] - at[1]} bytes cannot be read"
    assert report.records == 1


def spoil(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize(
    "content, kind, detail",
    [
        (b"", "empty-file", ""),
        (b"\x1f\x8b\x08" + bytes(50), "foreign-file", "it is a gzip file"),
        (foreign.image(), "foreign-file", "it is a JPEG image"),
        (b"<!DOCTYPE html><html>Sorry", "foreign-file", "it is a web page"),
        (b"\n<annotation>", "foreign-file", "it is XML"),
        (b'{"images": []}', "foreign-file", "it is JSON"),
        (b"version https://git-lfs.github.com/spec/v1\n", "foreign-file", "pointer of Git LFS"),
        (b"item {\n id: 1", "foreign-file", "it is a label map"),
        (bytes(300), "foreign-file", "nothing but zeros"),
        (b"hello, I am no record", "broken-length", "21 bytes"),
        (b"hello", "cut-off", "5 bytes"),
    ],
)
def test_what_is_no_tfrecord_is_named_for_what_it_is(tmp_path, content, kind, detail):
    (tmp_path / "a.record").write_bytes(content)
    report = check(tmp_path / "a.record")
    assert kinds(report) == [kind] and detail in find(report, kind)[1][0]["detail"]


@pytest.mark.parametrize("left", [1, 11, 12, 13, 100, -17, -16, -15, -5, -4, -3, -1])
def test_a_file_that_was_cut_is_named_at_the_record_where_it_ends(tmp_path, left):
    """left: bytes of the last record that stay, from its end if negative."""
    path = write(tmp_path / "a.record", *[example(n) for n in range(3)])
    at = offsets(path)
    size = at[2] + left if left > 0 else at[3] + left
    with open(path, "r+b") as file:
        file.truncate(size)
    report = check(path)
    assert kinds(report) == ["cut-off"] and report.records == 2
    assert find(report, "cut-off")[1] == [
        {"file": path, "byte": at[2], "id": "", "detail": f"{size - at[2]} bytes cannot be read"}
    ]


def test_a_record_that_is_no_example_is_named(tmp_path):
    assert find(check(write(tmp_path / "a.record", b"\xff\xff\xff")), "not-an-example")[0] == 1


def test_a_missing_shard_is_named(tmp_path):
    for number in (0, 2, 3):
        write(tmp_path / (f"a.record-{number:05d}-of-00005"), example(number))
    assert [os.path.basename(place["file"]) for place in find(check(tmp_path), "missing-shard")[1]] == [
        "a.record-00001-of-00005",
        "a.record-00004-of-00005",
    ]
    assert kinds(check(tmp_path / "a.record-00002-of-00005")) == []


def test_what_only_the_whole_shows_is_found(tmp_path, label_map):
    mask = [foreign.image(kind="PNG")]
    report = check(write(tmp_path / "a.record", example(0, object__mask=mask), example(1)), label_map=label_map)
    assert [place["detail"] for place in find(report, "mask-kind")[1]] == ["png in 1 record", "none in 1 record"]
    assert find(report, "class-without-box")[1][0]["id"] == "dog"
    assert find(check(write(tmp_path / "b.record", example(0, boxes=(), labels=()))), "no-boxes")[0] == 1
    assert find(check(tmp_path / "a.record", label_map=label_map, num_classes=5), "num-classes")[0] == 1


def test_without_a_label_map_a_text_with_two_ids_is_found_and_texts_name_the_classes(tmp_path):
    report = check(write(tmp_path / "a.record", example(0, texts=["cat"]), example(1, texts=["cat"], labels=[2])))
    assert find(report, "text-and-id")[1][0]["detail"] == "cat was 1 before and is 2 here"
    assert report.classes == {"cat": 2} and "--label-map" in report.notes[0]


def test_places_are_kept_for_the_first_and_counted_for_all(tmp_path):
    report = check(write(tmp_path / "a.record", *[example(0, labels=[0]) for _ in range(50)]))
    for kind, count in (("class-id", 50), ("same-id", 49), ("same-image", 49)):
        found, places = find(report, kind)
        assert (found, len(places)) == (count, problems.PLACES_KEPT)


def test_the_sample_is_spread_evenly_and_everything_is_decoded_when_asked(tmp_path):
    cut = foreign.cut_image()
    path = write(
        tmp_path / "a.record", *[example(n, encoded=[cut] if n > 7 else [foreign.image(n)]) for n in range(10)]
    )
    assert (check(path, decode=5).decoded, find(check(path, decode=5), "image-broken")[0]) == (5, 1)
    assert find(check(path, decode=None), "image-broken")[0] == 2


def test_boxes_are_counted_by_their_size_at_the_input(tmp_path):
    path = write(
        tmp_path / "a.record", example(0, labels=[1] * 3, boxes=[(0, 0, 0.05, 1), (0, 0, 1, 0.02), (0, 0, 1, 1)])
    )
    assert check(path, resize=scan.input_size("200x100")).small == {4: 1, 8: 1, 16: 2, 32: 2}
    assert check(path).small == {}


def test_memory_stays_flat(tmp_path):
    """Four times the records may cost little more than the 32 bytes that are remembered of each."""
    code = (
        "import resource, sys; from data_prep.check import inputs, scan\n"
        "scan.scan(inputs.find(sys.argv[1:]), scan.Options(decode=0))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def peak_kib(count):
        payload = example(0, boxes=[(0, 0, 1, 1)] * 20, labels=[1] * 20)
        path = write(tmp_path / (f"{count}.record"), *[payload] * count)
        return int(subprocess.run([sys.executable, "-c", code, path], check=True, stdout=subprocess.PIPE).stdout)

    assert peak_kib(4000) - peak_kib(1000) < 2500


def test_a_dataset_folder_is_held_to_its_description(mini, tmp_path):
    assert main(["check", str(mini), "--decode", "all"]) == 0
    folder = copy(mini, tmp_path)
    shard = folder / "pet_faces_train.record-00003-of-00010"
    with open(str(shard), "r+b") as file:
        payloads = list(codec.read(str(shard)))
        file.truncate(0)
    write(shard, *reversed(payloads))
    report = check(folder)
    assert find(report, "description")[1] == [
        {"file": str(shard), "byte": None, "id": "", "detail": "its sha256 is another one"}
    ]
    shard.unlink()
    assert "is missing" in find(check(folder), "description")[1][0]["detail"]
    stranger = write(folder / "pet_faces_train.record-00010-of-00010", b"\xff")
    report = check(folder)
    assert any(stranger in place["detail"] for place in find(report, "description")[1])
    assert find(report, "not-an-example")[1][0]["file"] == stranger
    (folder / "dataset.json").write_text("{", encoding="utf-8")
    report = check(folder)
    assert "is not a description" in find(report, "description")[1][0]["detail"] and report.records > 100


def copy(folder, tmp_path):
    target = tmp_path / "copy"
    target.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (target / path.name).write_bytes(path.read_bytes())
    return target
