"""What follows the steps of a training, one observer a file; OBSERVERS is the list, in the order they are called.

An observer is a StepObserver (base.py). One more is a module and a line in OBSERVERS here, or in a module that PLUGINS
names: `observers.OBSERVERS.append(MyObserver)`. Nothing here imports TensorFlow.
"""

from typing import Callable, List

from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.finite_loss import FiniteLoss
from tfod_train.observers.heartbeat import Heartbeat
from tfod_train.observers.idle_gpus import IdleGpus
from tfod_train.observers.metrics_file import MetricsFile
from tfod_train.observers.progress_line import ProgressLine
from tfod_train.observers.stop import Stop
from tfod_train.observers.training import Training

__all__ = ["OBSERVERS", "StepObserver", "StepResult", "Training", "make"]

# In this order: a training that diverged writes no metrics and makes no progress; to stop is decided last.
OBSERVERS: List[Callable[[Training], StepObserver]] = [Heartbeat, FiniteLoss, IdleGpus, ProgressLine, MetricsFile, Stop]


def make(training: Training) -> List[StepObserver]:
    """The observers of a training: its speed, which the others ask, and one of each of OBSERVERS."""
    return [training.speed] + [make_one(training) for make_one in OBSERVERS]
