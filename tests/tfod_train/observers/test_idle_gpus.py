"""A GPU that has nothing to do is named with what helps: a faster input, or another share of the work."""

import pytest

from tfod_train.observers import idle_gpus


class Speed(object):
    """Of which one GPU is found idle."""

    def __init__(self, waits):
        self._waits = waits

    def newly_idle(self):
        return [("2", 3.4)]

    def input_wait_percent(self):
        return self._waits


@pytest.mark.parametrize(
    "waits, known, cure",
    [
        (None, "", idle_gpus.SHARE_IS_SMALL),
        (49.9, " (input wait 50 %)", idle_gpus.SHARE_IS_SMALL),
        (50.0, " (input wait 50 %)", idle_gpus.INPUT_IS_SLOW),
    ],
)
def test_what_helps_hangs_on_the_wait_for_input(waits, known, cure, training, step, terminal):
    assert idle_gpus.IdleGpus(training._replace(speed=Speed(waits))).on_step(step(1)) is None
    assert terminal.getvalue() == f"GPU 2 was busy for 3 % of a minute of steps{known}. {cure}\n"
