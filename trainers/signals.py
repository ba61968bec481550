"""SIGTERM and SIGINT: stop after the step in hand, save, and exit 143 or 130; a second one stops at once."""
import os
import signal


class StopRequest(object):
    """What the step hook looks at. `requested` is 0 or the signal's number; `in_steps` is set once steps run.

    Args:
        say: function(sentence), safe in a signal handler.
        before_exit: function(signal's number), called where the process ends at once.
    """

    def __init__(self, say, before_exit=lambda number: None):
        self._say = say
        self._before_exit = before_exit
        self.requested = 0
        self.in_steps = False

    def install(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    @property
    def exit_code(self):
        return 128 + self.requested

    def _handle(self, number, _):
        if self.requested or not self.in_steps:
            # Nothing to save before the first step; and who asks twice does not want to wait. TensorFlow's threads
            # would hold up a normal exit.
            self._say("Stopped at once: nothing was saved." if not self.in_steps else "Stopped at once.")
            self._before_exit(number)
            os._exit(128 + number)
        self.requested = number
        self._say("Stopping after this step and saving; once more stops at once.")
