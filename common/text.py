"""Text that is shown to people."""

import difflib
from typing import Iterable, Optional


def printable(text: str, longest: int = 120) -> str:
    """Text from a file that may hold anything, as one line for a terminal."""
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return shown if len(shown) <= longest else shown[:longest] + "..."


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 image`, `2 images`.

    Args:
        count: how many there are.
        noun: what they are, in the singular.
        plural: where it is not the noun with an s.
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> Optional[str]:
    """The one of the known names that `word` was meant for, as a typing error; None where none is near enough.

    Args:
        word: as it was written.
        known: the names there are.
        cutoff: difflib's ratio, 0 to 1: how alike they must be.
    """
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return near[0] if near else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str, cutoff: float = 0.6) -> str:
    """`Did you mean NAME?`, or the sentence `otherwise`."""
    near = nearest(word, known, cutoff)
    return f"Did you mean {near}?" if near else otherwise
