"""Patch: the packages lvis and OpenCV are needed only by those who ask for LVIS metrics."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.replace_statement(
        "from object_detection.metrics import lvis_evaluation", "from object_detection.metrics import lvis_on_demand"
    )
    file.replace_expression("lvis_evaluation.LVISMaskEvaluator", "lvis_on_demand.LVISMaskEvaluator")


PATCH = Patch(
    name="lvis_optional",
    symptom=(
        "`import object_detection.eval_util` fails without the packages lvis and OpenCV; on Python 3.6 OpenCV "
        "compiles for half an hour."
    ),
    cause=(
        "`eval_util` imports the evaluator of LVIS metrics at its top, wanted or not; that imports lvis, and lvis "
        "OpenCV."
    ),
    cure=(
        "The evaluator is imported where `lvis_mask_metrics` is asked for; without the package that is an error "
        "which says what to install."
    ),
    proven_by=(
        "`test_lvis_and_opencv_are_not_needed` and "
        "`test_asking_for_lvis_metrics_without_the_package_says_what_to_install`."
    ),
    files=("object_detection/eval_util.py",),
    transform=transform,
    adds=("object_detection/metrics/lvis_on_demand.py",),
)
