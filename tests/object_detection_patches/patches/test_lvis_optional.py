"""Neither lvis nor OpenCV is needed where their metrics are not asked for."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_lvis_and_opencv_are_not_needed(inputs):
    assert "import_error" not in inputs and inputs["coco"] == 1


def test_asking_for_lvis_metrics_without_the_package_says_what_to_install(inputs):
    assert "pip install lvis==0.5.3" in inputs.get("lvis_error", "")
