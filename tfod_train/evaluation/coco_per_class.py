"""COCO's evaluators of the API, with the AP of each class, which they cannot give with the registry's pycocotools.

They read it from `category_stats`, which only the API authors' own pycocotools has; here it is what COCO's summary
says of all classes, taken of one.
"""

from typing import Any, Dict, List

import numpy as np
from object_detection.metrics import coco_evaluation, coco_tools

ALL_AREAS = 0
MOST_DETECTIONS = -1  # the last of 1, 10 and 100 detections an image


class ByClass(coco_tools.COCOEvalWrapper):
    """COCOEvalWrapper with `category_stats`: [[AP of each class, in the order of params.catIds]]."""

    def summarize(self) -> None:
        """Prints COCO's summary, as pycocotools does, and sets `stats` and `category_stats`."""
        super(ByClass, self).summarize()
        precision = self.eval["precision"][:, :, :, ALL_AREAS, MOST_DETECTIONS]
        self.category_stats = [[average_precision(precision[:, :, index]) for index in range(precision.shape[2])]]


def average_precision(precision: np.ndarray) -> float:
    """The mean of a class's precision [IOU thresholds, recall points] (COCOeval.eval); -1 where it has no box."""
    there = precision[precision > -1]
    return float(np.mean(there)) if there.size else -1.0


def evaluators(categories: List[Dict[str, Any]], masks: bool) -> List[Any]:
    """The API's COCO evaluator of boxes, and the one of masks where asked for, for label map `categories`."""
    coco_tools.COCOEvalWrapper = ByClass
    of_boxes = coco_evaluation.CocoDetectionEvaluator(categories, include_metrics_per_category=True)
    if not masks:
        return [of_boxes]
    return [of_boxes, coco_evaluation.CocoMaskEvaluator(categories, include_metrics_per_category=True)]
