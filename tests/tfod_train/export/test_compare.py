"""Detections are the same whatever their order; a box, a score, a class or a detection more or less is not."""

import numpy as np
import pytest

from tfod_train.export import compare

CAT = ([0.1, 0.1, 0.5, 0.5], 0.9, 1)
DOG = ([0.4, 0.3, 0.9, 0.8], 0.8, 2)
LAST = ([0.0, 0.0, 0.2, 0.2], 0.01, 1)


def detections(*found):
    boxes, scores, classes = zip(*found) if found else ((), (), ())
    return compare.Detections(np.array(boxes, "f").reshape(-1, 4), np.array(scores, "f"), np.array(classes, int))


def masked(detection, *masks):
    return detection._replace(masks=np.array(masks, "f"))


def difference(expected, found, most=100):
    return compare.difference(detections(*expected), detections(*found), near=0.1, tied=1e-3, most=most)


def moved(detection, by=0.0, score=0.0, class_id=None):
    return [edge + by for edge in detection[0]], detection[1] + score, class_id or detection[2]


def test_the_order_means_nothing():
    assert difference([CAT, DOG], [DOG, CAT]) == (0, 0, 2, 0, 0)
    assert difference([], []).within(0, 0, 0)


def test_the_largest_differences_are_told():
    apart = difference([CAT, DOG], [moved(CAT, by=0.002), moved(DOG, score=0.003)])
    assert apart[:2] == (pytest.approx(0.002, abs=1e-6), pytest.approx(0.003, abs=1e-6))
    assert not apart.within(1e-3, 1e-2, 0) and not apart.within(1e-2, 1e-3, 0) and apart.within(1e-2, 1e-2, 0)


@pytest.mark.parametrize(
    "found, matched, unmatched",
    [
        ([CAT], 1, 1),
        ([CAT, DOG, moved(DOG, by=-0.3)], 2, 1),
        ([CAT, moved(DOG, class_id=1)], 1, 2),
        ([CAT, moved(DOG, by=0.2)], 1, 2),
        ([], 0, 2),
        ([CAT, CAT], 1, 2),
    ],
)
def test_what_has_no_match_is_counted_on_both_sides(found, matched, unmatched):
    apart = difference([CAT, DOG], found)
    assert (apart.matched, apart.unmatched) == (matched, unmatched)
    assert not apart.within(1, 1, 1)


def test_a_full_list_may_end_in_others_but_not_many():
    cats = [moved(CAT, by=0.02 * index) for index in range(18)]
    ends = [moved(LAST, by=0.3, score=0.0005), moved(LAST, by=0.6)]
    assert difference(cats + [LAST], cats + ends[:1], most=19).unmatched == 1  # 1 = 2 less a tenth of 19
    assert difference(cats + [LAST, CAT], cats + [ends[0], CAT], most=20).within(1e-3, 1e-3, 0)
    assert not difference(cats + [LAST, moved(LAST, by=0.15)], cats + ends, most=20).within(1e-3, 1e-3, 0)
    assert not difference(cats + [LAST, CAT], cats + [ends[0], CAT]).within(1e-3, 1e-3, 0)


def test_a_neighbour_at_the_end_of_a_full_list_is_not_taken_for_the_one_that_fell_off():
    cats = [moved(CAT, by=0.02 * index) for index in range(19)]
    ends = [LAST, moved(LAST, by=0.05, score=0.0005)]
    assert difference(cats + ends[:1], cats + ends[1:], most=20) == (0, 0, 19, 0, 0)
    assert difference(cats + ends[:1], cats + ends[1:], most=100).boxes == pytest.approx(0.05)
    far = [moved(CAT, by=0.02 * index) for index in range(18)] + [moved(CAT, by=0.36 + 0.05)]
    assert not difference(cats + [LAST], far + [LAST], most=20).within(1e-3, 1e-3, 0)


def test_masks_are_compared_of_those_that_match():
    inside, half = [[1, 0], [0, 0]], [[1, 0], [0.25, 0]]
    one = masked(detections(CAT, DOG), inside, half)
    same = compare.difference(one, masked(detections(DOG, CAT), half, inside), 0.1, 1e-3, 100)
    assert same.masks == 0 and same.within(0, 0, 0)
    other = compare.difference(one, masked(detections(DOG, CAT), inside, inside), 0.1, 1e-3, 100)
    assert other.masks == 0.25 and not other.within(0, 0, 0.2) and other.within(0, 0, 0.25)


@pytest.mark.parametrize("found", [detections(CAT), masked(detections(CAT), [[0.5]])])
def test_masks_that_are_missing_or_of_another_size_are_as_far_apart_as_can_be(found):
    one = masked(detections(CAT), [[0.5, 0.5], [0.5, 0.5]])
    assert compare.difference(one, found, 0.1, 1e-3, 100).masks == 1
    assert compare.difference(found, one, 0.1, 1e-3, 100).masks == 1


def test_a_rounded_model_finds_an_object_again_where_class_place_and_score_agree():
    def again(*found):
        return compare.found_again(detections(CAT, DOG, LAST), detections(*found), 0.3, 0.5, 0.1)

    assert again(moved(DOG, by=0.05, score=0.05), moved(CAT, by=-0.05)) == (2, 2)
    assert again(moved(DOG, by=0.3), CAT) == (1, 2)
    assert again(moved(DOG, score=-0.2), moved(CAT, class_id=2)) == (0, 2)
    assert again() == (0, 2)
