"""What the commands of this package refuse, each said in one sentence and answered in another."""


class Refused(Exception):
    """A command changed nothing, because something is not as it must be.

    Attributes:
        what: is wrong, a sentence.
        do: what to do about it, a sentence.
        exit_code: 2 for a wrong command, 3 for wrong files.
    """

    exit_code = 3

    def __init__(self, what: str, do: str) -> None:
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

    Attributes:
        patch: its name.
        file: the path of the file.
        construct: what the patch looks for, in words.
    """

    def __init__(self, patch: str, file: str, construct: str, found: int) -> None:
        times = f"{found} times" if found else "nowhere"
        super().__init__(
            f"The patch {patch} looks for {construct} in {file} and found it {times}, so nothing was changed.",
            f"Use the API that `fetch` brings, or leave this patch out with --without {patch}.",
        )
        self.patch = patch
        self.file = file
        self.construct = construct
