"""What an observer may ask and use of the training it follows."""

from typing import Callable, NamedTuple

from tfod_train.observers.speed import Speed
from tfod_train.process.console import Console
from tfod_train.process.health import Health
from tfod_train.process.signals import StopRequest
from tfod_train.run.context import Run


class Training(NamedTuple):
    """A training, for its observers. beat: function() that tells the watchdog of a step."""

    run: Run
    console: Console
    speed: Speed
    health: Health
    stop: StopRequest
    beat: Callable[[], None]
