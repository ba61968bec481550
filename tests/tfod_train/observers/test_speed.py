"""Images a second and the wait for input, of made-up steps."""

import pytest

from tfod_train.observers.speed import STEPS_FOR_A_RATE, WINDOW_SECS, Speed


def fed(results):
    speed = Speed(16, began=-2.0)
    speed.on_begin(0)
    for result in results:
        speed.on_step(result)
    return speed


def test_the_first_step_is_timed_from_the_beginning_and_counts_for_no_rate(step):
    told = []
    speed = Speed(16, began=-2.0, on_first=told.append)
    speed.on_begin(7)
    assert (speed.step, speed.first_step_secs, speed.images_per_sec()) == (7, None, None)
    speed.on_step(step(8, ended=100.0))
    speed.on_step(step(9, ended=101.0))
    assert (speed.step, speed.first_step_secs, told) == (9, 102.0, [102.0])


def test_a_rate_needs_some_steps(step):
    assert fed(step(number) for number in range(1, STEPS_FOR_A_RATE + 1)).images_per_sec() is None
    assert fed(step(number) for number in range(1, STEPS_FOR_A_RATE + 2)).images_per_sec() == 16


def test_a_rate_is_that_of_the_last_half_minute(step):
    slow = [step(number, ended=10.0 * number) for number in range(1, 11)]
    fast = [step(10 + number, ended=100 + 0.5 * number) for number in range(1, 2 * WINDOW_SECS + 20)]
    assert fed(slow).images_per_sec() == pytest.approx(1.6)
    assert fed(slow + fast).images_per_sec() == pytest.approx(32)


def test_all_of_the_half_minute_counts_and_not_its_last_steps_alone(step):
    fast = [step(number, ended=number) for number in range(1, 21)]
    slow = [step(20 + number, ended=20 + 2.0 * number) for number in range(1, 6)]
    assert fed(fast + slow).images_per_sec() == pytest.approx(16 * 23 / 28)


def test_the_wait_for_input_is_the_mean_and_a_share_of_a_step(step):
    speed = fed(step(number, waited=0.1 * (number % 2)) for number in range(1, 12))
    assert speed.input_wait_secs() == pytest.approx(0.05, abs=0.01)
    assert speed.input_wait_percent() == pytest.approx(5, abs=1)
    # More than a step's time is all of it.
    assert fed(step(number, waited=3.0) for number in range(1, 12)).input_wait_percent() == 100


def test_a_wait_that_one_step_does_not_know_is_not_known(step):
    results = [step(number, waited=None if number == 9 else 0.1) for number in range(1, 12)]
    assert (fed(results).input_wait_secs(), fed(results).input_wait_percent()) == (None, None)


def test_without_a_watch_nothing_is_said_of_gpus(step):
    speed = fed(step(number) for number in range(1, 9))
    assert (speed.gpu_uses(), speed.newly_idle()) == ([], [])
