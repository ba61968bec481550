"""The boxes of a sample of training images."""

import numpy as np

from tfod_train.fitted_config import boxes


def image(*of_classes, size=(200, 100)):
    return boxes.Image(size, [box for _, box in of_classes], [name for name, _ in of_classes])


def test_boxes_of_all_images_stand_together_with_the_size_of_their_image():
    whole = (0.0, 0.0, 1.0, 1.0)
    sample = boxes.gather([image(("b", whole), ("a", (0.1, 0.2, 0.3, 0.4))), image(("b", whole), size=(50, 60))])
    assert sample.names == ["a", "b"] and sample.images == 2 and sample.boxes_by_class() == {"a": 1, "b": 2}
    assert sample.boxes.shape == (3, 4) and sample.kinds.tolist() == [1, 0, 1]
    assert sample.sizes.tolist() == [[200, 100], [200, 100], [50, 60]]


def test_boxes_that_are_none_are_left_out():
    bad = [(0.5, 0.1, 0.5, 0.2), (0.2, 0.9, 0.4, 1.1), (-0.1, 0.0, 0.2, 0.2), (float("nan"), 0.0, 0.2, 0.2)]
    sample = boxes.gather([image(*[("a", box) for box in bad], (None, (0.0, 0.0, 1.0, 1.0)))])
    assert sample.images == 1 and sample.boxes.shape == (0, 4) and sample.names == []
    assert boxes.gather([]).sizes.shape == (0, 2)


def test_every_shard_of_the_training_split_is_looked_at(cells_dataset, monkeypatch):
    every = list(boxes.sample(cells_dataset))
    assert len(every) == cells_dataset.examples("train") == 24
    assert every[0].size == (320, 240) and set(every[0].classes) == {"tiny", "medium", "large"}
    sides = np.array([box[2] - box[0] for one in every for box, name in zip(one.boxes, one.classes) if name == "tiny"])
    assert 0.02 < sides.mean() < 0.04
    monkeypatch.setattr(boxes, "IMAGES_LOOKED_AT", 4)
    assert len(list(boxes.sample(cells_dataset))) == 4
