"""The LVIS evaluator, imported when it is asked for. Added to the API by the tfod-train patch
lvis_optional."""


class LVISMaskEvaluator(object):
    """Makes an object_detection.metrics.lvis_evaluation.LVISMaskEvaluator; takes the same arguments.

    Raises:
        ImportError: if lvis, or a package it needs, is not installed.
    """

    def __new__(cls, *args, **kwargs):
        try:
            from object_detection.metrics import lvis_evaluation
        except ImportError as error:
            raise ImportError(
                f"The metrics set lvis_mask_metrics needs the package lvis, which cannot be imported ({error}). "
                "Install it (pip install lvis==0.5.3), or take lvis_mask_metrics out of "
                "eval_config.metrics_set."
            ) from error
        return lvis_evaluation.LVISMaskEvaluator(*args, **kwargs)
