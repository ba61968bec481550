"""Ends a training whose loss is not finite, with the images that the step was made of."""

import math
from typing import Any, List

from tfod_train.checkpoints import divergence
from tfod_train.observers import image_names
from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.training import Training

IMAGES_SHOWN = 12


class FiniteLoss(StepObserver):
    def __init__(self, training: Training):
        self._run = training.run
        self._console = training.console
        self._speed = training.speed
        self._image_ids: List[Any] = []  # of the last step and the one before

    def on_step(self, result: StepResult) -> None:
        self._image_ids = self._image_ids[-1:] + [result.image_ids]
        if math.isfinite(result.loss):
            self._speed.last_loss = result.loss
            return
        self._console.end_progress()
        self._name_the_images(result.step)
        raise divergence.refused(
            f"the loss at step {result.step} is {result.loss}", self._run.run_dir.path, self._console.say
        )

    def _name_the_images(self, last_step):
        """Says what the step was made of, and the one before: its update may be what broke the weights."""
        for step, values in zip(range(last_step, 0, -1), reversed(self._image_ids)):
            ids = image_names.names(values, self._run.records)
            if not ids:
                continue
            more = len(ids) - IMAGES_SHOWN
            rest = f" and {more} more, in train.log" if more > 0 else ""
            self._console.say(f"Images of step {step}: {', '.join(ids[:IMAGES_SHOWN])}{rest}.")
            if more > 0:
                self._console.log(f"All images of step {step}: {', '.join(ids)}")
