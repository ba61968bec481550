"""Names a GPU that has next to nothing to do, once, with what helps."""

from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.training import Training

MUCH_WAITING_PERCENT = 50
INPUT_IS_SLOW = "Its input is too slow: more CPU cores, a faster disk or smaller images help."
SHARE_IS_SMALL = (
    "Its share of the work may be too small: a larger BATCH_SIZE gives it more, a smaller NUM_GPUS leaves it out."
)


class IdleGpus(StepObserver):
    def __init__(self, training: Training):
        self._console = training.console
        self._speed = training.speed

    def on_step(self, result: StepResult) -> None:
        for entry, percent in self._speed.newly_idle():
            waits = self._speed.input_wait_percent()
            known = "" if waits is None else f" (input wait {waits:.0f} %)"
            cure = INPUT_IS_SLOW if waits is not None and waits >= MUCH_WAITING_PERCENT else SHARE_IS_SMALL
            self._console.say(f"GPU {entry} was busy for {percent:.0f} % of a minute of steps{known}. {cure}")
