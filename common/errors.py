"""The exceptions people are meant to see: what is wrong, what to do, and the documented exit code."""

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
        code: process exit code; see the table in the README.
    """

    def __init__(self, what, do, code=SETTINGS_REFUSED):
        super(Refused, self).__init__(f"{what} {do}")
        self.what = what
        self.do = do
        self.code = code


class DataError(Refused):
    """The data, the disk or the network is not as needed."""

    def __init__(self, what, do, code=PREFLIGHT_FAILED):
        super(DataError, self).__init__(what, do, code)


class UsageError(DataError):
    """What was asked for does not make sense, whatever the data is."""

    def __init__(self, what, do):
        super(UsageError, self).__init__(what, do, SETTINGS_REFUSED)


def refuse_arguments(command, arguments):
    """For commands that take none: raises Refused where there are any."""
    if arguments:
        raise Refused(
            f"{command} takes no arguments: {' '.join(arguments)}.",
            "Settings are environment variables.",
            SETTINGS_REFUSED,
        )
