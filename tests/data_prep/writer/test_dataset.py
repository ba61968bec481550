"""The prepared folder: whole or not there, its dataset.json, and how much may be lost."""

import errno
import os
import re

import pytest

from common import files, ownership
from common.errors import DataError
from data_prep.check import quick
from data_prep.formats import pets
from data_prep.source import splits
from data_prep.tfrecord import label_map
from data_prep.writer import dataset
from data_prep.writer.dataset import Limits, Outcome, Split, hold_to_limits
from tests.data_prep.prepared import content


def test_other_options_replace_the_older_shards(raw, tmp_path):
    raw.convert(tmp_path / "out", shards=3)
    raw.convert(tmp_path / "out", shards=2)
    assert len([name for name in os.listdir(str(tmp_path / "out")) if ".record-" in name]) == 4


def test_more_skipped_images_than_the_limit_fail_the_run_and_leave_the_older_dataset(raw, tmp_path):
    dataset = raw.convert(tmp_path / "out")
    raw.image("pug_1", b"broken")
    with pytest.raises(DataError, match="1 of 20 images were skipped.*the limit of 2 %"):
        raw.convert(tmp_path / "out", max_skipped=0.02)
    assert quick.complete(str(tmp_path / "out")) == dataset
    assert not [name for name in os.listdir(str(tmp_path / "out")) if name.endswith(".tmp")]


def test_a_limit_that_is_just_met_is_kept_and_the_one_that_is_offered_suffices():
    """29 of 100 images are 0.29 of them, although 0.29 * 100 is less than 29."""
    for listed in range(1, 101):
        for bad in range(listed + 1):
            counted = {
                "splits": {"train": {"listed": listed}},
                "changed": [],
                "skipped": [{"id": number, "forgiven": False} for number in range(bad)],
            }
            hold_to_limits(counted, Limits(max_skipped=bad / listed))
            if bad:
                with pytest.raises(DataError) as refused:
                    hold_to_limits(counted, Limits(max_skipped=0))
                offered = float(re.search("--max-skipped ([0-9.]+[0-9])", refused.value.do).group(1))
                hold_to_limits(counted, Limits(max_skipped=offered))


def test_one_image_in_twenty_may_lack_its_xml_and_no_more():
    def without_xml(count):
        return {
            "splits": {"train": {"listed": 100}},
            "changed": [],
            "skipped": [{"id": number, "forgiven": True} for number in range(count)],
        }

    hold_to_limits(without_xml(5), Limits(max_skipped=0))
    with pytest.raises(DataError, match="6 of 100 images have no annotation"):
        hold_to_limits(without_xml(6), Limits(max_skipped=0))


def test_a_missing_xml_is_forgiven_but_a_missing_folder_of_xmls_is_not(raw, tmp_path):
    raw.remove("annotations/xmls/pug_1.xml")
    raw.convert(tmp_path / "out", max_skipped=0)
    raw.remove("annotations/xmls/pug_2.xml")
    with pytest.raises(DataError, match="2 of 20 images have no annotation"):
        raw.convert(tmp_path / "out")


def test_a_shard_that_would_be_empty_is_refused(raw, tmp_path):
    with pytest.raises(DataError, match="val split has 6 images for 7 shards"):
        raw.convert(tmp_path / "out", shards=7)
    raw.image(splits.by_seed(raw.ids)[1].ids[0], b"broken")
    with pytest.raises(DataError, match="No usable image is left for pet_faces_val.record-00000-of-00006"):
        raw.convert(tmp_path / "out", shards=6)
    assert not (tmp_path / "out" / "dataset.json").exists()


def test_dataset_json_sums_up_the_images_and_their_checksums(raw, tmp_path, encode):
    raw.image("pug_1", encode(size=(50, 30)))
    first = raw.convert(tmp_path / "out")
    assert first["picture_sizes"]["width"] == {"min": 40, "median": 40, "max": 50}
    assert first["picture_sizes"]["commonest"] == [{"size": "40x30", "pictures": 19}, {"size": "50x30", "pictures": 1}]
    assert first["command"].startswith("python -m data_prep pets --source ")
    raw.image("pug_2", encode(size=(40, 30), quality=20))
    second = raw.convert(tmp_path / "out")
    assert first["pictures_sha256"] != second["pictures_sha256"]
    assert first["made_from"]["source_sha256"] != second["made_from"]["source_sha256"]


def test_every_image_counts_in_the_checksum_of_all(raw, tmp_path, encode):
    found = {raw.convert(tmp_path / "out")["pictures_sha256"]}
    for image_id in raw.ids[:6]:
        raw.image(image_id, encode(quality=20))
        found.add(raw.convert(tmp_path / "out", shards=3)["pictures_sha256"])
    assert len(found) == 7


def test_a_image_that_is_lost_without_a_word_fails_the_run(raw, tmp_path, monkeypatch):
    convert = pets.Converter.__call__
    monkeypatch.setattr(
        pets.Converter,
        "__call__",
        lambda self, image_id: Outcome(None) if image_id == "pug_7" else convert(self, image_id),
    )
    with pytest.raises(DataError, match="1 of 20 images are neither written nor listed as skipped"):
        raw.convert(tmp_path / "out", workers=2)
    assert os.listdir(str(tmp_path / "out")) == []


def test_a_disk_that_is_full_in_the_end_leaves_the_older_dataset(raw, tmp_path, monkeypatch):
    raw.convert(tmp_path / "out", shards=2)
    before = content(tmp_path / "out")

    write_temporary = files.write_temporary

    def full(path, *arguments):
        if os.path.basename(path) == ownership.LIST:  # the first file of all
            return write_temporary(path, *arguments)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_temporary", full)
    with pytest.raises(DataError, match="could not be read or written: No space left"):
        raw.convert(tmp_path / "out", shards=3)
    assert content(tmp_path / "out") == before


def test_shards_have_the_names_that_the_apis_patterns_match():
    assert dataset.shard_name("pets", "val", 3, 10) == "pets_val.record-00003-of-00010"


@pytest.mark.parametrize("images, shards", [((1000, 300), 10), ((1000, 57), 5), ((70, 3), 1), ((0, 0), 1)])
def test_a_shard_of_the_smallest_split_has_ten_images_at_least(images, shards):
    assert dataset.shards_for([Split(f"{count}", ["x"] * count) for count in images]) == shards


def test_a_label_map_of_any_names_is_read_as_it_was_written(tmp_path):
    names = ["cat", 'a "quoted\\ name', "Käse\n", "猫"]
    (tmp_path / "map.pbtxt").write_text(dataset.label_map_text(names), encoding="utf-8")
    assert label_map.read(str(tmp_path / "map.pbtxt")).names == dict(enumerate(names, 1))


def test_the_command_of_a_dataset_can_be_pasted_into_a_shell():
    options = {"source": "my images", "label_map": None, "val_fraction": 0.3}
    assert dataset.command_line("voc", options) == "python -m data_prep voc --source 'my images' --val-fraction 0.3"
