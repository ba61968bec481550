"""The one session hook that follows steps, for both trainers: what it fetches goes to the observers.

One, because each further set of fetches has TensorFlow 1.15 optimise the whole graph once more.
"""

import time
from typing import Any, Callable, List, Optional

import tensorflow.compat.v1 as tf

from tfod_train.hooks import data_time, image_ids, summaries
from tfod_train.observers import StepObserver, StepResult


class StepHook(tf.train.SessionRunHook):
    """Counts steps and hands each to the observers, in their order.

    Args:
        observers: of the training.
        loss: scalar tensor; None takes the loss that the Estimator put last into the LOSSES collection.
        clock: seconds; for tests.
    """

    def __init__(self, observers: List[StepObserver], loss: Any = None, clock: Callable[[], float] = time.time):
        self._observers = observers
        self._loss = loss
        self._clock = clock
        self.step: Optional[int] = None

    def begin(self) -> None:
        self._global_step = tf.train.get_or_create_global_step()
        if self._loss is None:
            self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
        self._ids = image_ids.tensors()
        self._input_times = data_time.times(self._loss)
        self._scalars = summaries.of_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.step = int(session.run(self._global_step))
        for observer in self._observers:
            observer.on_begin(self.step)

    def before_run(self, run_context: Any) -> Any:
        self._began = self._clock()
        # Not the global step: within a step's run it may be read before or after the update. Here steps are counted.
        return tf.train.SessionRunArgs([self._loss, self._ids, self._input_times, self._scalars])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.step = (self.step or 0) + 1
        loss, ids, input_times, scalars = run_values.results
        waited = data_time.secs(input_times)
        result = StepResult(self.step, float(loss), scalars, ids, self._began, self._clock(), waited)
        # A list: one that ends the training does not keep the step from the observers after it.
        if any([observer.on_step(result) for observer in self._observers]):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        for observer in self._observers:
            observer.on_end()
