"""A progress bar with rate and time left on a terminal, a plain line every ten seconds elsewhere."""

import sys
import time
from typing import Any

_SECONDS_BETWEEN_LINES = 10


class Progress:
    """Count up to total; `update(n)` adds n. Used as a context manager.

    scale: print counts as bytes (kB, MB) rather than as they are.
    """

    def __init__(self, what: str, total: int, unit: str, scale: bool = False):
        self._what, self._total, self._unit = what, total, unit
        self._done, self._at_start = 0, 0
        self._started = self._last_line = time.monotonic()
        self._bar = None
        self._scale = scale
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=what, unit=unit, unit_scale=scale, dynamic_ncols=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def start_at(self, done: int) -> None:
        """Say that done of the total was there before, or (0) that the work begins again."""
        self._done = self._at_start = done
        if self._bar is not None:
            self._bar.reset(self._total)
            self._bar.initial = done
            self._bar.n = done
            self._bar.refresh()

    def update(self, count: int) -> None:
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            print(self._line(), file=sys.stderr, flush=True)

    def _line(self):
        from tqdm import tqdm

        rate = (self._done - self._at_start) / (time.monotonic() - self._started)
        left = (self._total - self._done) / rate if rate else float("inf")
        size = tqdm.format_sizeof if self._scale else "{:.0f}".format
        unit = self._unit if self._scale else " " + self._unit
        return f"{self._what}: {size(self._done)} of {size(self._total)}{unit}, {size(rate)}{unit}/s, {left:.0f} s left"
