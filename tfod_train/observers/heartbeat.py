"""Tells the watchdog and the health file that a step has ended."""

from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.training import Training


class Heartbeat(StepObserver):
    def __init__(self, training: Training):
        self._training = training

    def on_step(self, result: StepResult) -> None:
        self._training.beat()
        self._training.health.beat("training")
