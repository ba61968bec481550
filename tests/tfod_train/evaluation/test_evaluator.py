"""What is measured of each class is what COCO and Pascal mean by it, of boxes and of masks, worked out by hand."""

import numpy as np
import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]

CATEGORIES = [
    {"id": 1, "name": "cat"},
    {"id": 2, "name": "a/dog"},
    {"id": 4, "name": "dog"},
    {"id": 5, "name": "Säugetier"},
    {"id": 7, "name": "unseen"},
]
NAMES = {category["id"]: category["name"] for category in CATEGORIES}
SIDE = 100
# 51 of the 101 recall points are reached by one of two.
HALF = 51 / 101.0


def rectangle(box):
    mask = np.zeros((SIDE, SIDE), np.uint8)
    ymin, xmin, ymax, xmax = map(int, box)
    mask[ymin:ymax, xmin:xmax] = 1
    return mask


def truth(*objects):
    """Ground truth of an image from (class id, box, mask)."""
    classes, boxes, masks = zip(*objects) if objects else ((), (), ())
    return {
        "groundtruth_boxes": np.array(boxes, "f").reshape(-1, 4),
        "groundtruth_classes": np.array(classes, int),
        "groundtruth_instance_masks": np.array(masks, np.uint8).reshape(-1, SIDE, SIDE),
    }


def found(*objects):
    """Detections of an image from (class id, score, box, mask)."""
    classes, scores, boxes, masks = zip(*objects) if objects else ((), (), (), ())
    return {
        "detection_boxes": np.array(boxes, "f").reshape(-1, 4),
        "detection_classes": np.array(classes, int),
        "detection_scores": np.array(scores, "f"),
        "detection_masks": np.array(masks, np.uint8).reshape(-1, SIDE, SIDE),
    }


def of_classes(*images):
    """Dict of OfClass by name, and all metrics, of images (truth, found)."""
    from object_detection.utils import object_detection_evaluation

    from tfod_train.evaluation import coco_per_class
    from tfod_train.evaluation import evaluator as evaluate

    metrics = {}
    for evaluator in coco_per_class.evaluators(CATEGORIES, masks=True) + [
        object_detection_evaluation.PascalDetectionEvaluator(CATEGORIES)
    ]:
        for number, (true, detected) in enumerate(images):
            evaluator.add_single_ground_truth_image_info(number, true)
            evaluator.add_single_detected_image_info(number, detected)
        metrics.update(evaluate.measured(evaluator.evaluate()))
    boxes = {}
    for true, _ in images:
        for class_id in true["groundtruth_classes"]:
            boxes[class_id] = boxes.get(class_id, 0) + 1
    return evaluate.of_classes(metrics, NAMES, boxes), metrics


WHOLE, FOUR_FIFTHS, OTHER = (0, 0, 50, 100), (0, 0, 40, 100), (60, 0, 100, 100)


@pytest.fixture(scope="module")
def measured():
    whole, part, other = map(rectangle, (WHOLE, FOUR_FIFTHS, OTHER))
    return of_classes(
        # The box overlaps by 0.8: found at 0.5, 0.55, ... 0.8 and at none of 0.85, 0.9 and 0.95. The mask is whole.
        (truth((1, WHOLE, whole)), found((1, 0.9, FOUR_FIFTHS, whole))),
        # One of two; the mask is four fifths of the true one.
        (truth((2, WHOLE, whole), (2, OTHER, other)), found((2, 0.9, WHOLE, part))),
        # What is wrong comes first, with the higher score: a precision of a half at every recall.
        (truth((4, WHOLE, whole)), found((4, 0.9, OTHER, other), (4, 0.8, WHOLE, whole))),
        # Nothing is found of this one, and there is none of the last.
        (truth((5, WHOLE, whole)), found()),
        (truth(), found((7, 0.9, WHOLE, whole))),
    )


@pytest.mark.parametrize(
    "name, expected",
    [
        ("cat", (1, 1, 0.7, 1)),
        ("a/dog", (2, 0.5, HALF, 0.7 * HALF)),
        ("dog", (1, 0.5, 0.5, 0.5)),
        ("Säugetier", (1, 0, 0, 0)),
        ("unseen", (0, None, None, None)),
    ],
)
def test_the_values_of_a_class(measured, name, expected):
    """boxes, Pascal AP at 0.5, COCO AP of boxes, of masks; a name that ends as another does is not mixed up."""
    assert tuple(measured[0][name]) == pytest.approx(expected, abs=1e-6)


def test_the_mean_is_that_of_the_classes_that_have_boxes(measured):
    per_class, metrics = measured
    assert list(per_class) == [category["name"] for category in CATEGORIES]
    for name, of_class in (
        ("DetectionBoxes_Precision/mAP", "ap"),
        ("DetectionMasks_Precision/mAP", "mask_ap"),
        ("PascalBoxes_Precision/mAP@0.5IOU", "ap50"),
    ):
        values = [getattr(one, of_class) for one in per_class.values() if one.boxes]
        assert len(values) == 4 and metrics[name] == pytest.approx(np.mean(values), abs=1e-6), name


def test_what_there_is_nothing_to_measure_for_is_left_out(measured):
    """There are no small objects; COCO's -1 would be taken for a value."""
    assert "DetectionBoxes_Precision/mAP (medium)" in measured[1]
    assert "DetectionBoxes_Precision/mAP (small)" not in measured[1]
    per_class, metrics = of_classes((truth(), found()))
    assert not any("Precision" in name for name in metrics)
    assert all(one == (0, None, None, None) for one in per_class.values())
