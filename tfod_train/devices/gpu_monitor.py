"""How busy the GPUs of a training are and how full their memory is, asked once a second in a thread of its own.

Only what is seen while steps run counts: not the start, and not the saving of a checkpoint.
"""

import collections
import threading
import time
from typing import Any, Callable, Deque, List, NamedTuple, Optional, Set, Tuple

from tfod_train.devices import nvml

PERIOD_SECS = 1.0  # NVML's own numbers are means of the last second at most
SHOWN_SECS = 30
IDLE_SECS = 60
IDLE_PERCENT = 5
# Between two steps there are milliseconds, where nothing else is done.
PAUSE_SECS = 0.5


class Use(NamedTuple):
    """One GPU: percent of the time in which a kernel ran, and MiB of its memory that are in use, by whomever.

    None where its driver does not tell.
    """

    percent: Optional[float]
    memory_mib: Optional[int]


class GpuWatch(object):
    """Asks NVML in a thread of its own; a context manager. Without a GPU, a driver or the library it says nothing.

    Args:
        entries: the GPUs as in CUDA_VISIBLE_DEVICES, in the order of the training's devices; [] for none.
        log: function(sentence) for what only the log need say.
        clock: seconds, that of `step`.
    """

    def __init__(
        self,
        entries: List[str],
        log: Callable[[str], None] = lambda sentence: None,
        clock: Callable[[], float] = time.time,
    ):
        self._entries = entries
        self._log = log
        self._clock = clock
        self._enough = int(IDLE_SECS / PERIOD_SECS)
        # (time, the Use of each GPU), not looked at yet; then those of while steps ran.
        self._heard: Deque[Tuple[float, List[Use]]] = collections.deque(maxlen=2 * self._enough)
        self._counted: Deque[List[Use]] = collections.deque(maxlen=self._enough)
        self._steps_since = 0.0
        self._last_step_ended: Optional[float] = None
        self._judged = True
        self._named: Set[str] = set()
        self._answers = bool(entries)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "GpuWatch":
        if self._entries:
            self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        if self._entries:
            self._thread.join(PERIOD_SECS)  # a driver that hangs must not keep the process

    def step(self, began: float, ended: float) -> None:
        """A step was run between these times."""
        if self._last_step_ended is None or began - self._last_step_ended > PAUSE_SECS:
            self._steps_since = began
        self._last_step_ended = ended
        while self._heard:
            at, uses = self._heard.popleft()
            # What NVML says of now is of the second before, too.
            if at >= self._steps_since + PERIOD_SECS:
                self._counted.append(uses)
                self._judged = False

    def now(self) -> List[Use]:
        """The Use of each GPU in the last half minute of steps, memory as of now; [] where nothing is known."""
        if not self._answers or not self._counted:
            return []
        recent = list(self._counted)[-int(SHOWN_SECS / PERIOD_SECS) :]
        return [Use(_mean(uses), uses[-1].memory_mib) for uses in zip(*recent)]

    def newly_idle(self) -> List[Tuple[str, float]]:
        """(entry, percent) of each GPU that did next to nothing in a minute of steps; each is named once."""
        if self._judged or not self._answers or len(self._counted) < self._enough:
            return []
        self._judged = True
        found = []
        for entry, uses in zip(self._entries, zip(*self._counted)):
            percent = _mean(uses)
            if percent is not None and percent < IDLE_PERCENT and entry not in self._named:
                self._named.add(entry)
                found.append((entry, percent))
        return found

    def _watch(self):
        try:
            with nvml.session() as pynvml:
                handles = nvml.handles_of(pynvml, self._entries)
                while not self._done.wait(PERIOD_SECS):
                    self._heard.append((self._clock(), [_ask(pynvml, handle) for handle in handles]))
        except nvml.NoAnswer as why:
            self._answers = False
            self._log(
                f"The use of the GPUs is not shown{' from here on' if self._counted else ''}: NVML does not "
                f"answer ({str(why) or 'it is not installed'})."
            )


def text(uses: List[Use]) -> str:
    """For the progress line: the percents of all GPUs, and the memory of the fullest; "" where nothing is known."""
    if not uses:
        return ""
    percents = "/".join("?" if use.percent is None else f"{use.percent:.0f}" for use in uses)
    full = [use.memory_mib for use in uses if use.memory_mib is not None]
    memory = f" {max(full) / 1024:.1f} GiB" if full else ""
    return f"  GPU {percents} %{memory}"


def _ask(pynvml, handle):
    return Use(
        _answer(pynvml, lambda: float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
        _answer(pynvml, lambda: int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) // 2**20),
    )


def _answer(pynvml, question):
    """The answer, None from a GPU that is not made to tell (an old GeForce, a part of one that MIG split)."""
    try:
        return question()
    except pynvml.NVMLError as error:
        if error.value != pynvml.NVML_ERROR_NOT_SUPPORTED:
            raise
        return None


def _mean(uses):
    known = [use.percent for use in uses if use.percent is not None]
    return sum(known) / len(known) if known else None
