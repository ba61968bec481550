"""Moving averages under a strategy have the numbers and the names of one device."""

import pytest

from tests.object_detection_patches.patches.line_training import AVERAGE, OPTIMIZERS

pytestmark = pytest.mark.tensorflow


DECAY = 0.9


@pytest.fixture(scope="module", params=sorted(OPTIMIZERS))
def averaged(request, play):
    """Trainings with a moving average, by the number of replicas; "0" is one device without a strategy."""
    average = f" use_moving_average: true moving_average_decay: {DECAY}"
    return play("estimator", "LineModel", OPTIMIZERS[request.param] + average, "0", "1", "2")


@pytest.mark.parametrize("devices", ["1", "2"])
def test_variables_and_averages_are_those_of_one_device(averaged, devices):
    assert "error" not in averaged[devices], averaged[devices]["error"][-2000:]
    one, several = averaged["0"]["variables"], averaged[devices]["variables"]
    assert set(several) == set(one)
    assert {name for name in one if AVERAGE in name} == {"line/weights" + AVERAGE, "line/bias" + AVERAGE}
    for name in one:
        assert several[name] == pytest.approx(one[name], abs=1e-5), name


@pytest.mark.parametrize("devices", ["0", "1", "2"])
def test_averages_take_the_weights_of_the_same_step(averaged, devices):
    assert "error" not in averaged[devices], averaged[devices]["error"][-2000:]
    now, before = averaged[devices]["variables"], averaged[devices]["before_last_step"]
    for name in ("line/weights", "line/bias"):
        expected = [
            DECAY * average + (1 - DECAY) * weight for average, weight in zip(before[name + AVERAGE], now[name])
        ]
        assert now[name + AVERAGE] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("devices", ["0", "2"])
def test_evaluation_reads_the_averages(averaged, devices):
    run = averaged[devices]
    assert "error" not in run, run["error"][-2000:]
    assert run["eval_loss"] == pytest.approx(run["loss_of_averages"], rel=1e-4)
    assert run["loss_of_averages"] != pytest.approx(run["loss_of_weights"], rel=0.1)
