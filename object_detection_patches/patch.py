"""What a patch is; `patches` has them all."""

from typing import TYPE_CHECKING, Callable, NamedTuple, Tuple

if TYPE_CHECKING:
    from object_detection_patches.edits import File


class Patch(NamedTuple):
    """One change of the API. Its texts are Markdown, whole sentences, in ASCII, for docs/patches.md and `list --why`.

    Attributes:
        name: that of its module.
        symptom: what those meet who train without it.
        cause: what in the API makes it so.
        cure: what the patch does about it.
        proven_by: the tests, or cases of a test, that fail without it, each in backticks.
        files: paths of the files that it edits.
        transform: function(path, file) that edits one of them, told apart by its path.
        adds: paths of the files that it brings, which lie in added/.
        reports: issues of those who met it.
        without: what else to know before leaving it out, the end of a sentence.
    """

    name: str
    symptom: str
    cause: str
    cure: str
    proven_by: str
    files: Tuple[str, ...]
    transform: Callable[[str, "File"], None]
    adds: Tuple[str, ...] = ()
    reports: Tuple[str, ...] = ()
    without: str = ""
