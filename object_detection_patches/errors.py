"""What the commands of this package refuse, each said in one sentence and answered in another."""


class Refused(Exception):
    """A command changed nothing, because something is not as it must be.

    Attributes: what (is wrong), do (about it), exit_code (2 for a wrong command, 3 for wrong files).
    """

    exit_code = 3

    def __init__(self, what, do):
        super().__init__(f"{what} {do}")
        self.what = what
        self.do = do


class WrongName(Refused):
    """A patch was asked for that does not exist."""

    exit_code = 2


class SourceError(Refused):
    """The package, or a tree made from it, is not the pinned one."""


class PatchError(Refused):
    """A construct that a patch edits is not in its file exactly once.

    Attributes, besides those of Refused: patch, file, construct.
    """

    def __init__(self, patch, file, construct, found):
        super().__init__(
            "The patch {} looks for {} in {} and found it {}, so nothing was changed.".format(
                patch, construct, file, "nowhere" if found == 0 else f"{found} times"
            ),
            f"Use the API that `fetch` brings, or leave this patch out with --without {patch}.",
        )
        self.patch = patch
        self.file = file
        self.construct = construct
