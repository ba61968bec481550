"""The errors people see: one sentence what is wrong, one sentence what to do."""


class DataError(Exception):
    """The data, the disk or the network is not as needed.

    what: one sentence, what is wrong. do: one sentence, what to do about it.
    """

    exit_code = 3

    def __init__(self, what, do):
        super().__init__(what, do)
        self.what = what
        self.do = do

    def __str__(self):
        return f"{self.what} {self.do}"


class UsageError(DataError):
    """What was asked for does not make sense, whatever the data is."""

    exit_code = 2
