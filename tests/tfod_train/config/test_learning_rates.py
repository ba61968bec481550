"""The learning rate of every kind of schedule, scaled and set."""

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")

SCHEDULES = {
    "constant_learning_rate { learning_rate: 0.1 }": "learning_rate",
    "exponential_decay_learning_rate { initial_learning_rate: 0.1 min_learning_rate: 0.01 }": "initial_learning_rate",
    "manual_step_learning_rate { initial_learning_rate: 0.1 schedule { step: 5 learning_rate: 0.01 } }": (
        "initial_learning_rate"
    ),
    "cosine_decay_learning_rate { learning_rate_base: 0.1 warmup_learning_rate: 0.01 total_steps: 9 }": (
        "learning_rate_base"
    ),
}


def config_of(schedule, optimizer="momentum_optimizer"):
    from tfod_train.config import text_proto

    return text_proto.read(f"train_config {{ optimizer {{ {optimizer} {{ learning_rate {{ {schedule} }} }} }} }}", "it")


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
@pytest.mark.parametrize("optimizer", ["momentum_optimizer", "adam_optimizer", "rms_prop_optimizer"])
def test_the_whole_schedule_follows_its_base(schedule, optimizer):
    from tfod_train.config import learning_rates

    config, changes = config_of(schedule, optimizer), []
    learning_rates.use(config, 0.05, changes)
    found = learning_rates.schedule(config)
    assert getattr(found, SCHEDULES[schedule]) == pytest.approx(0.05)
    for field in ("min_learning_rate", "warmup_learning_rate"):
        if hasattr(found, field):
            assert getattr(found, field) == pytest.approx(0.005)
    assert [step.learning_rate for step in getattr(found, "schedule", [])] in ([], [pytest.approx(0.005)])
    assert changes == ["learning rate: 0.1 -> 0.05, and all of its schedule with it (LEARNING_RATE)"]


def test_the_rate_that_is_there_changes_nothing():
    from tfod_train.config import learning_rates

    config, changes = config_of("constant_learning_rate { learning_rate: 0.1 }"), []
    learning_rates.use(config, 0.1, changes)
    assert changes == []


@pytest.mark.parametrize("schedule", ["", "constant_learning_rate { learning_rate: 0 }"])
def test_a_config_without_a_rate_is_refused(schedule):
    from tfod_train.config import learning_rates

    with pytest.raises(Refused, match="LEARNING_RATE=0.1, but"):
        learning_rates.use(config_of(schedule), 0.1, [])


def test_the_setting_reaches_the_config(effective):
    from tfod_train.config import learning_rates

    made = effective(LEARNING_RATE="0.002", BATCH_SIZE="8")
    assert learning_rates.initial(made.config) == pytest.approx(0.002)
    assert learning_rates.schedule(made.config).warmup_learning_rate == pytest.approx(0.0002)
