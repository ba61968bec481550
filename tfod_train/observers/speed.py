"""How fast steps are, how long they wait for their input, and how used the GPUs are meanwhile."""

import collections
from typing import Callable, Deque, List, Optional, Tuple

from tfod_train.devices.gpu_monitor import GpuWatch, Use
from tfod_train.observers.base import StepObserver, StepResult

WINDOW_SECS = 30
STEPS_FOR_A_RATE = 5


class Speed(StepObserver):
    """Counts and times steps, for the other observers.

    Args:
        batch_size: images per step over all devices.
        began: when the run began, by the steps' clock.
        gpu_watch: that of the devices; None where there is nothing to watch.
        on_first: function(seconds), called when the first step has ended.
    """

    def __init__(
        self,
        batch_size: int,
        began: float,
        gpu_watch: Optional[GpuWatch] = None,
        on_first: Optional[Callable[[float], None]] = None,
    ):
        self._batch_size = batch_size
        self._began = began
        self._gpu_watch = gpu_watch or GpuWatch([])
        self._on_first = on_first or (lambda secs: None)
        # (time, step, seconds waited for input or None) of the last WINDOW_SECS, without the first step
        self._recent: Deque[Tuple[float, int, Optional[float]]] = collections.deque()
        self.step: Optional[int] = None
        self.first_step_secs: Optional[float] = None
        self.last_loss: Optional[float] = None

    def on_begin(self, step: int) -> None:
        self.step = step

    def on_step(self, result: StepResult) -> None:
        self.step = result.step
        if self.first_step_secs is None:
            self.first_step_secs = result.ended - self._began
            self._on_first(self.first_step_secs)
            return
        self._gpu_watch.step(result.began, result.ended)
        self._recent.append((result.ended, result.step, result.waited))
        while result.ended - self._recent[0][0] > WINDOW_SECS and len(self._recent) > STEPS_FOR_A_RATE:
            self._recent.popleft()

    def images_per_sec(self) -> Optional[float]:
        """Images a second over all devices in the last half minute; None before there are some steps to go by."""
        if len(self._recent) < STEPS_FOR_A_RATE:
            return None
        (began, first, _), (ended, last, _) = self._recent[0], self._recent[-1]
        return self._batch_size * (last - first) / max(ended - began, 1e-6)

    def input_wait_secs(self) -> Optional[float]:
        """Mean seconds a step waited for its input, of the steps of images_per_sec; None where there are none."""
        steps = list(self._recent)[1:]
        waited = [waited for _, _, waited in steps if waited is not None]
        if len(self._recent) < STEPS_FOR_A_RATE or len(waited) < len(steps):
            return None
        return sum(waited) / len(waited)

    def input_wait_percent(self) -> Optional[float]:
        """Percent of a step's time that it waits for its input; None where it is not known."""
        rate, waited = self.images_per_sec(), self.input_wait_secs()
        return None if rate is None or waited is None else min(100 * waited * rate / self._batch_size, 100)

    def gpu_uses(self) -> List[Use]:
        """The Use of each GPU; [] where there are none, or nothing is known of them."""
        return self._gpu_watch.now()

    def newly_idle(self) -> List[Tuple[str, float]]:
        """(entry of CUDA_VISIBLE_DEVICES, percent) of each GPU that is found idle and was not named before."""
        return self._gpu_watch.newly_idle()
