"""The host side of the Makefile: finds out where to run (Docker or a virtual environment) and runs it there.

Standard library only, since this is what runs before anything is installed, on any python3 from 3.6 on; of the
other rooms it knows common/, tfod_train/devices/gpus.py and the version in tfod_train/__init__.py, which need no more
to be imported.
"""

from common.errors import PREFLIGHT_FAILED, Refused


class LaunchError(Refused):
    """A refusal people see: `what` is wrong, what to `do`, the exit `code` (2 settings, 3 this machine)."""

    code = PREFLIGHT_FAILED

    def __str__(self) -> str:
        return f"{self.what}\n{self.do}"


def say(line: str, end: str = "\n") -> None:
    """Prints one line at once, also into a pipe: what follows is another process writing there."""
    print(line, end=end, flush=True)
