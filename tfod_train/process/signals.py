"""SIGTERM and SIGINT: stop after the step in hand, save, and exit 143 or 130; a second one stops at once.

Python calls its own signal handlers in the main thread, between two of its instructions: while that thread waits for a
step or a save in TensorFlow, not at all. So the interpreter's C handler writes the signal's number to a pipe
(signal.set_wakeup_fd), and a thread of ours reads it there.
"""

import os
import signal
import threading
from typing import Callable

from tfod_train.process.watchdog import finish_or_leave

LAST_WORDS_SECS = 5
NUMBERS = (signal.SIGTERM, signal.SIGINT)


class StopRequest(object):
    """What the step hook looks at. `requested` is 0 or the signal's number; `in_steps` is set once steps run.

    Args:
        say: function(sentence), safe while another thread writes.
        before_exit: function(signal's number), called where the process ends at once.
        kept: half a sentence on what is kept where the process ends at once and no steps run.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        before_exit: Callable[[int], None] = lambda number: None,
        kept: str = "nothing was saved",
    ):
        self._say = say
        self._before_exit = before_exit
        self._kept = kept
        self.requested = 0
        self.in_steps = False

    def install(self) -> None:
        """From here on signals are answered as this module says."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing)
        for number in NUMBERS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._read, args=(reading,), daemon=True).start()

    def steps_are_over(self) -> None:
        """The run is saved, and how it ended is written down; what follows need not be waited for."""
        self._kept = "the training is saved"
        self._before_exit = lambda number: None
        self.in_steps = False

    @property
    def exit_code(self) -> int:
        return 128 + self.requested

    def _read(self, pipe):
        while True:
            for number in os.read(pipe, 64):
                if number in NUMBERS:
                    self._handle(number)

    def _handle(self, number):
        if self.requested or not self.in_steps:
            # Nothing to save but between the first step and the last; and who asks twice does not want to wait.
            # TensorFlow's threads would hold up a normal exit.
            self._say("Stopped at once." if self.in_steps else f"Stopped at once: {self._kept}.")
            finish_or_leave(lambda: self._before_exit(number), LAST_WORDS_SECS)
            os._exit(128 + number)
        self.requested = number
        self._say("Stopping after this step and saving; once more stops at once.")
