"""Patch: the packages lvis and OpenCV are needed only by those who ask for LVIS metrics."""

NAME = "lvis_optional"
CURES = "lvis and OpenCV needed to import eval_util"
WHY = (
    "eval_util imports the LVIS evaluator, which imports lvis, which imports OpenCV, so every training "
    "needs both; on Python 3.6 OpenCV compiles for half an hour. The evaluator is now imported when "
    "lvis_mask_metrics is asked for; without the package that is an error that says what to install."
)
REPORTS = ()
FILES = ("object_detection/eval_util.py",)
ADDS = ("object_detection/metrics/lvis_on_demand.py",)


def transform(path, file):
    """Edits object_detection/eval_util.py."""
    file.replace_statement(
        "from object_detection.metrics import lvis_evaluation", "from object_detection.metrics import lvis_on_demand"
    )
    file.replace_expression("lvis_evaluation.LVISMaskEvaluator", "lvis_on_demand.LVISMaskEvaluator")
