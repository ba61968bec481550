"""What people read, apart from what TensorFlow writes.

TensorFlow's C++ and Python logs go to file descriptors 1 and 2. `Console` keeps its own copy of the terminal and points
both descriptors at RUN_DIR/train.log, so that the console shows only sentences meant for people and nothing is lost.
With LOG_LEVEL=debug the descriptors stay where they are.
"""

import faulthandler
import os
import sys
import time
import traceback
from typing import IO, Any, Callable, Optional

from tqdm import tqdm

PLAIN_INTERVAL_SECS = 20


class Console(object):
    """Writes sentences to the terminal and to the log; shows progress as one live line or a line now and then.

    Args:
        terminal: text file people read; default: what stdout is now.
        clock: seconds, monotonic; for tests.
    """

    def __init__(self, terminal: Optional[IO[str]] = None, clock: Callable[[], float] = time.time):
        # File names may hold bytes, and class names letters, that the terminal's encoding has not.
        self._terminal: IO[str] = terminal or os.fdopen(os.dup(1), "w", buffering=1, errors="backslashreplace")
        self._errors: IO[str] = terminal or os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
        self._clock = clock
        self._log: Optional[IO[str]] = None
        self._bar: Any = None
        self._last_plain: Optional[float] = None
        self.log_path: Optional[str] = None

    def capture(self, log_path: str, debug: bool = False) -> None:
        """Appends everything this process writes from now on to log_path; `debug` leaves TensorFlow on the terminal."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.log_path = log_path
        self._log = open(log_path, "a", buffering=1, encoding="utf-8", errors="backslashreplace")
        self._log.write(f"---- {time.strftime('%Y-%m-%dT%H:%M:%S%z')}, process {os.getpid()} ----\n")
        if not debug:
            os.dup2(self._log.fileno(), 1)
            os.dup2(self._log.fileno(), 2)
        # A crash in a library of C++ would end this without a word on the terminal: its last ones are in the log.
        faulthandler.enable(file=self._errors, all_threads=False)

    def release(self) -> None:
        """Gives file descriptors 1 and 2 back to the terminal, for a program that takes this process's place."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(self._terminal.fileno(), 1)
        os.dup2(self._errors.fileno(), 2)

    def error(self, sentence: str) -> None:
        """One line on the terminal's stderr, also in the log."""
        self.end_progress()
        self._to_log(sentence + "\n")
        self._errors.write(sentence + "\n")
        self._errors.flush()

    def _to_log(self, text):
        if self._log:
            try:
                self._log.write(text)
            except OSError:
                pass  # the disk may be full, and people must still hear of it

    def say_from_signal(self, sentence: str) -> None:
        """As `say`, from a signal handler: it may have interrupted a write, and buffered files are not re-entrant."""
        for target, start in ((self._log, ""), (self._terminal, "" if self._bar is None else "\n")):
            if target is not None:
                os.write(target.fileno(), (start + sentence + "\n").encode("utf-8"))

    def say(self, sentence: str = "") -> None:
        """One line for people, also in the log."""
        self._to_log(sentence + "\n")
        if self._bar is not None:
            self._bar.clear()
        self._terminal.write(sentence + "\n")
        self._terminal.flush()
        if self._bar is not None:
            self._bar.refresh()

    def table(self, table: Any) -> None:
        """A rich.table.Table; as wide as the terminal, 110 columns elsewhere."""
        from rich.console import Console as RichConsole

        width = None if self._terminal.isatty() else 110
        for target in filter(None, (self._terminal, self._log)):
            RichConsole(file=target, width=width, highlight=False).print(table)

    def log_traceback(self) -> None:
        """The traceback of the exception being handled, into the log only."""
        self._to_log(traceback.format_exc())

    def log(self, sentence: str) -> None:
        """One line in the log alone."""
        self._to_log(sentence + "\n")

    def log_stacks(self) -> None:
        """What every thread is doing, into the log; works while they hang."""
        target = self._log or self._errors
        faulthandler.dump_traceback(file=target, all_threads=True)

    def progress(self, done: int, total: int, text: str, unit: str) -> None:
        """Shows that `done` of `total` (0: unknown) is reached, with `text` beside it."""
        if self._terminal.isatty():
            if self._bar is None:
                self._bar = tqdm(
                    total=total or None,
                    initial=done,
                    unit=" " + unit,
                    file=self._terminal,
                    dynamic_ncols=True,
                    leave=False,
                )
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(done - self._bar.n)
            return
        now = self._clock()
        if self._last_plain is None:
            self._last_plain = now
        if now - self._last_plain >= PLAIN_INTERVAL_SECS:
            self._last_plain = now
            self.say(f"{unit} {done} of {total or '?'}  {text}")

    def end_progress(self) -> None:
        """Takes the live line away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._last_plain = None


def duration(secs: float) -> str:
    """Seconds as people say them: 45 s, 3 min 20 s, 2 h 5 min."""
    secs = int(round(secs))
    if secs < 60:
        return f"{secs} s"
    if secs < 3600:
        return f"{secs // 60} min {secs % 60} s"
    return f"{secs // 3600} h {secs % 3600 // 60} min"
