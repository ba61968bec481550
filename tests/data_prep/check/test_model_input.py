"""What a pipeline config says of the data, and records that do not fit it."""

import pytest

from data_prep.check import model_input
from tests.data_prep.check.scanning import check, facts_of, find, kinds
from tests.data_prep.foreign_records import example, write


def test_a_config_says_classes_input_size_boxes_and_masks(tmp_path, label_map):
    (tmp_path / "a.config").write_text(
        """
        model { ssd { num_classes: 2 image_resizer { keep_aspect_ratio_resizer { min_dimension: 60
                max_dimension: 100 } } } }
        train_config { max_number_of_boxes: 2 }
        train_input_reader { label_map_path: "LABEL_MAP" load_instance_masks: true mask_type: PNG_MASKS
                             max_number_of_boxes: 2 }""".replace("LABEL_MAP", label_map),
        encoding="utf-8",
    )
    facts = model_input.read(str(tmp_path / "a.config"))
    assert (facts.num_classes, facts.label_map, facts.max_boxes, facts.masks) == (2, label_map, 2, "png")
    assert facts.resize(40, 30) == (80, 60) and facts.resize(400, 100) == (100, 25)
    path = write(tmp_path / "a.record", example(0, boxes=[(0, 0, 0.1, 1)] * 3, labels=[1, 2, 3]))
    report = check(path, config=facts)
    assert set(kinds(report)) == {"class-id", "config-masks", "many-boxes"}
    assert report.small == {4: 0, 8: 0, 16: 3, 32: 3}


def test_an_image_with_more_boxes_than_the_model_can_find_is_named(tmp_path, label_map):
    box = (0.2, 0.2, 0.5, 0.5)
    path = write(
        tmp_path / "a.record", example(0, boxes=[box] * 2, labels=[1, 2]), example(1, boxes=[box] * 3, labels=[1, 2, 1])
    )
    count, places = find(check(path, label_map=label_map, config=facts_of(tmp_path)), "many-detections")
    assert count == 1 and places[0]["detail"] == "3 boxes, max_total_detections 2"


@pytest.mark.parametrize(
    "size, low, high, expected",
    [
        ((40, 30), 60, 100, (80, 60)),
        ((30, 40), 60, 100, (60, 80)),
        ((400, 100), 60, 100, (100, 25)),
        ((60, 60), 60, 60, (60, 60)),
    ],
)
def test_the_shorter_side_decides_unless_the_longer_one_would_be_too_long(size, low, high, expected):
    assert model_input.keep_aspect_ratio(*size, low, high) == expected


def test_what_a_config_does_not_say_is_none(tmp_path):
    facts = facts_of(tmp_path, "model { ssd { } }")
    assert (facts.num_classes, facts.label_map, facts.masks, facts.resize, facts.most_detections) == (None,) * 5
    assert facts.max_boxes == 100
    identity = facts_of(tmp_path, "model { ssd { image_resizer { identity_resizer { } } } }")
    assert identity.resize(40, 30) == (40, 30)
