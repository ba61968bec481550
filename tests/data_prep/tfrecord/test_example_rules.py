"""What an example has to hold, rule by rule; ../check/test_scan.py has how a scan counts and places what breaks one."""

import pytest

from data_prep.tfrecord import example_rules
from data_prep.tfrecord.example_rules import Rules
from data_prep.tfrecord.label_map import LabelMap
from tests.data_prep import foreign_records as foreign
from tests.data_prep.foreign_records import example

LABEL_MAP = LabelMap({1: "cat", 2: "dog"}, {"cat": 1, "Katze": 1, "dog": 2})


def kinds(payload, **rules):
    return [problem.kind for problem in example_rules.problems(example_rules.parse(payload), Rules(**rules))]


def test_ids_are_taken_as_the_api_takes_them():
    features = example_rules.parse(example(0, labels=[1], texts=["dog"]))
    assert example_rules.class_ids(features, LABEL_MAP) == [2] and example_rules.class_ids(features) == [1]
    assert example_rules.class_ids(example_rules.parse(example(0, texts=["cow"])), LABEL_MAP) == [None]


def test_a_sound_example_breaks_no_rule():
    assert kinds(example(0, texts=["cat"]), num_classes=2, label_map=LABEL_MAP) == []


def test_what_the_dataset_promises_decides():
    payload = example(0, boxes=[(0, 0, 0.1, 1)] * 3, labels=[1, 2, 3])
    assert kinds(payload) == []
    assert kinds(payload, num_classes=2) == ["class-id"]
    assert kinds(payload, max_boxes=2) == ["many-boxes"]
    assert kinds(payload, resize=lambda width, height: (70, 70)) == ["small-box"]


def test_what_is_of_the_wrong_type_is_not_judged_further():
    assert kinds(example(0, width=[40.0], boxes=[(4, 6, 20, 27)])) == ["wrong-type"]


def test_the_shorter_side_of_each_sound_box_is_measured_at_the_input():
    features = example_rules.parse(example(0, boxes=[(0, 0, 0.25, 1), (0, 0.5, 1, 1), (0.9, 0, 0.1, 1)]))
    rules = Rules(resize=lambda width, height: (2 * width, height))
    assert example_rules.input_pixels(features, rules, (40, 30)) == [20, 15]
    assert example_rules.input_pixels(features, rules, None) == []
    assert example_rules.input_pixels(features, Rules(), (40, 30)) == []


def test_only_decoding_shows_a_cut_image_and_a_broken_mask():
    cut = example_rules.parse(example(0, encoded=[foreign.cut_image()], width=[300], height=[300]))
    assert example_rules.problems(cut, Rules()) == []
    assert [problem.kind for problem in example_rules.decoding_problems(cut)] == ["image-broken"]
    small = foreign.image(size=(20, 30), kind="PNG")
    (problem,) = example_rules.decoding_problems(example_rules.parse(example(0, object__mask=[small, b"none"])))
    assert (problem.kind, problem.times) == ("mask-broken", 2)
    assert problem.detail == "mask of 20x30 on an image of 40x30"


def test_the_head_says_format_size_and_orientation():
    assert example_rules.head(foreign.turned_image()) == ("JPEG", 40, 30, 6)
    assert example_rules.head(foreign.image(kind="PNG")) == ("PNG", 40, 30, 1)
    with pytest.raises(ValueError, match="it is no image"):
        example_rules.head(b"nothing")
