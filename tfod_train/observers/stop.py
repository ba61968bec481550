"""Ends the training at its last step, or after the step in hand when a signal asked for it."""

from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.training import Training


class Stop(StepObserver):
    def __init__(self, training: Training):
        self._total_steps = training.run.total_steps
        self._stop = training.stop

    def on_begin(self, step: int) -> None:
        self._stop.in_steps = True

    def on_step(self, result: StepResult) -> bool:
        return bool(self._stop.requested) or result.step >= self._total_steps
