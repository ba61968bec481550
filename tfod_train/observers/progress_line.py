"""The progress people see: step, loss, speed, input wait, GPUs, time left."""

from tfod_train.devices import gpu_monitor
from tfod_train.observers.base import StepObserver, StepResult
from tfod_train.observers.training import Training
from tfod_train.process.console import duration


class ProgressLine(StepObserver):
    def __init__(self, training: Training):
        self._run = training.run
        self._console = training.console
        self._speed = training.speed

    def on_step(self, result: StepResult) -> None:
        self._console.progress(result.step, self._run.total_steps, self._text(result), "step")

    def on_end(self) -> None:
        self._console.end_progress()

    def _text(self, result):
        rate = self._speed.images_per_sec()
        if rate is None:
            return f"loss {result.loss:.3f}"
        left = duration((self._run.total_steps - result.step) * self._run.batch_size / rate)
        waits = self._speed.input_wait_percent()
        wait = "" if waits is None else f"  input wait {waits:.0f} %"
        gpus = gpu_monitor.text(self._speed.gpu_uses())
        return f"loss {result.loss:.3f}  {rate:.1f} images/s{wait}{gpus}  {left} left"
