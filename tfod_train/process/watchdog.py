"""A training that makes no step for too long is ended, with what its threads were doing in the log."""

import os
import threading
from typing import Any, Callable

from common.errors import STALLED

# Building the graph, the first batch and the compilation of kernels for a new GPU come before the first step.
FIRST_STEP_FACTOR = 3
LAST_WORDS_SECS = 30


class Watchdog(object):
    """Calls `stalled` when `beat` is not called for `secs` seconds; a context manager.

    Time is counted in ticks of a thread of its own, so that a process that was paused (docker pause, a closed laptop)
    is not taken for one that hangs.

    Args:
        secs: seconds a step may take; three times as many for the first.
        stalled: function(seconds of silence). It runs in the watchdog's thread, the others hang; the process ends with
            exit code 5 when it returns, or after half a minute if it does not.
        end: function(exit code) that ends the process; for tests.
    """

    def __init__(self, secs: float, stalled: Callable[[float], None], end: Callable[[int], Any] = os._exit):
        self._secs = secs
        self._stalled = stalled
        self._end = end
        self._limit = secs * FIRST_STEP_FACTOR
        self._silent = 0.0
        self._tick = min(secs / 20.0, 5.0)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Watchdog":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._done.set()

    def beat(self) -> None:
        """A step has ended."""
        self._limit = self._secs
        self._silent = 0.0

    def _watch(self):
        while not self._done.wait(self._tick):
            self._silent += self._tick
            if self._silent >= self._limit:
                finish_or_leave(lambda: self._stalled(self._silent), LAST_WORDS_SECS)
                self._end(STALLED)
                return


def finish_or_leave(function: Callable[[], Any], secs: float) -> None:
    """Calls function in a thread and returns when it has ended, or after `secs`: what it does may hang as well."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(secs)
