"""The ids of a step's images: read from the step, or found again among the records by their hashes."""

import sys
import types

import numpy as np
import pytest

from data_prep.tfrecord import codec
from tests.data_prep.foreign_records import example, write
from tfod_train.observers import image_names


def test_ids_are_text_and_an_image_without_one_is_told():
    values = [np.array([b"a.jpg", b""], object), [b"\xff.jpg"]]
    assert image_names.names(values, []) == ["a.jpg", image_names.UNKNOWN, "\ufffd.jpg"]
    assert image_names.names([], []) == []


def test_hashes_are_looked_up_for_all_devices_at_once(monkeypatch):
    asked = []

    def ids_of(hashes, patterns):
        asked.append((hashes, patterns))
        return {7: "a.jpg"}

    monkeypatch.setattr(image_names, "_ids_of", ids_of)
    values = [np.array([7, 8], np.int32), np.array([7], np.int32)]
    assert image_names.names(values, ["train*"]) == ["a.jpg", image_names.UNKNOWN, "a.jpg"]
    assert asked == [({7, 8}, ["train*"])]


def test_the_ids_of_records_come_in_lists_that_tensorflow_can_hash(tmp_path, monkeypatch):
    write(tmp_path / "train.record-00000-of-00002", example(0), example(1, source_id=["ä.jpg"]))
    write(tmp_path / "train.record-00001-of-00002", codec.encode({}), example(3))
    write(tmp_path / "val.record-00000-of-00001", example(9))
    monkeypatch.setattr(image_names, "_AT_ONCE", 3)
    found = list(image_names._in_lists(image_names._source_ids([str(tmp_path / "train.record-*")])))
    assert found == [[b"0.jpg", "ä.jpg".encode(), b""], [b"3.jpg"]]


@pytest.mark.tensorflow
def test_an_id_is_found_again_by_its_hash(tmp_path, monkeypatch):
    """The API, which takes seconds, is not imported for the number of its hashes."""
    import tensorflow.compat.v1 as tf

    package, inputs = types.ModuleType("object_detection"), types.ModuleType("object_detection.inputs")
    package.inputs, inputs.HASH_BINS = inputs, 1 << 31
    monkeypatch.setitem(sys.modules, "object_detection", package)
    monkeypatch.setitem(sys.modules, "object_detection.inputs", inputs)
    monkeypatch.setattr(image_names, "_AT_ONCE", 2)
    write(tmp_path / "train.record", *[example(number) for number in range(5)])
    with tf.Graph().as_default(), tf.Session() as session:
        hashes = session.run(tf.strings.to_hash_bucket_fast([b"3.jpg", b"0.jpg", b"gone.jpg"], inputs.HASH_BINS))
    found = image_names.names([hashes[:1], hashes[1:]], [str(tmp_path / "train.record")])
    assert found == ["3.jpg", "0.jpg", image_names.UNKNOWN]
