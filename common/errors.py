"""The exceptions people are meant to see: what is wrong, what to do, and the documented exit code."""

from typing import List, Optional

FAILED = 1
SETTINGS_REFUSED = 2
PREFLIGHT_FAILED = 3
DIVERGED = 4
STALLED = 5


class Refused(Exception):
    """A command that is refused or stopped for a reason the user can act on.

    Args:
        what: one sentence that says what is wrong.
        do: one sentence that says what to do about it.
        code: process exit code; see the table in the README. None leaves that of the class.
    """

    code = SETTINGS_REFUSED

    def __init__(self, what: str, do: str, code: Optional[int] = None):
        super(Refused, self).__init__(what, do)
        self.what = what
        self.do = do
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.what} {self.do}"


class DataError(Refused):
    """The data, the disk or the network is not as needed."""

    code = PREFLIGHT_FAILED


class UsageError(DataError):
    """What was asked for does not make sense, whatever the data is."""

    code = SETTINGS_REFUSED


def refuse_arguments(command: str, arguments: List[str]) -> None:
    """For commands that take none.

    Raises:
        Refused: there are some.
    """
    if arguments:
        raise Refused(
            f"{command} takes no arguments: {' '.join(arguments)}.",
            "Settings are environment variables.",
            SETTINGS_REFUSED,
        )
