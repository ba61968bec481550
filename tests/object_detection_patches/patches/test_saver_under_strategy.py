"""Training under a strategy saves, evaluates and exports as on one device."""

import pytest

from tests.object_detection_patches.patches.line_training import OPTIMIZERS

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def plain(play):
    """Trainings without a moving average, by the number of replicas."""
    return play("estimator", "LineModelWithStatistics", OPTIMIZERS["momentum"] + " use_moving_average: false", "0", "2")


def test_training_evaluation_and_export_work_under_a_strategy(plain):
    for devices in ("0", "2"):
        assert "error" not in plain[devices], plain[devices]["error"][-2000:]
        assert plain[devices]["eval_step"] == 10 and plain[devices]["exported"]


def test_only_as_many_checkpoints_are_kept_as_run_config_says(plain):
    assert [plain[devices].get("checkpoints") for devices in ("0", "2")] == [2, 2]
