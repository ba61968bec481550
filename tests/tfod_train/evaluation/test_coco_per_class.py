"""The AP of each class, out of COCO's precisions; test_evaluator.py works whole evaluations out by hand."""

import numpy as np
import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]


def test_the_ap_is_the_mean_over_thresholds_and_recalls_that_there_are():
    from tfod_train.evaluation import coco_per_class

    assert coco_per_class.average_precision(np.array([[1.0, 0.5], [0.5, 0.0]])) == 0.5
    assert coco_per_class.average_precision(np.array([[1.0, -1], [-1, 0.5]])) == 0.75
    assert coco_per_class.average_precision(np.full((10, 101), -1.0)) == -1


@pytest.mark.parametrize("masks, kinds", [(False, ["boxes"]), (True, ["boxes", "masks"])])
def test_masks_are_evaluated_where_they_are_asked_for(masks, kinds):
    from object_detection.metrics import coco_evaluation, coco_tools

    from tfod_train.evaluation import coco_per_class

    found = coco_per_class.evaluators([{"id": 1, "name": "cat"}], masks)
    known = {coco_evaluation.CocoDetectionEvaluator: "boxes", coco_evaluation.CocoMaskEvaluator: "masks"}
    assert [known[type(one)] for one in found] == kinds
    assert coco_tools.COCOEvalWrapper is coco_per_class.ByClass
