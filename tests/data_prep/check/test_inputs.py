"""What the files that are named are taken for."""

import pytest

from common.errors import DataError, UsageError
from data_prep.check import inputs


@pytest.mark.parametrize(
    "name, split",
    [
        ("pet_faces_train.record-00000-of-00010", "train"),
        ("coco_val.record-00000-of-00100", "val"),
        ("test.record", "test"),
        ("eval.tfrecord", "val"),
        ("trained.record", "trained.record"),
        ("data.tfrecord-00000-of-00001", "data.tfrecord"),
        ("validation-00000-of-00128", "val"),
    ],
)
def test_the_split_is_read_from_the_name(name, split):
    assert inputs.split_of("/data/train/" + name) == split


def test_a_label_map_or_a_path_that_is_not_there_is_refused_as_what_it_is(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        inputs.read_label_map(str(tmp_path / "none"))
    with pytest.raises(DataError, match="no file or folder"):
        inputs.find([str(tmp_path / "none")])
