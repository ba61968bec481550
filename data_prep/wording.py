"""How data_prep names sizes, boxes, lists and errors in what it prints and records."""

from typing import Iterable, Sequence


def size_text(size: Sequence[int]) -> str:
    """`40x30` of (width, height)."""
    width, height = size
    return f"{width}x{height}"


def box_text(box: Iterable[float]) -> str:
    """`[xmin, ymin, xmax, ymax]` without needless digits."""
    return f"[{', '.join(f'{value:g}' for value in box)}]"


def name_text(name: str) -> str:
    """A file name with escapes for what is not UTF-8 in it."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def some(names: Sequence[str], count: int, most: int) -> str:
    """The first of many names.

    Args:
        names: all of them, or the first ones.
        count: how many there are.
        most: how many are named.
    """
    more = count - len(names[:most])
    return ", ".join(names[:most]) + (f" and {more} more" if more else "")


def first_line(error: Exception, unknown: str) -> str:
    """An exception's first line.

    Args:
        error: what Pillow raised. It names the memory that it reads from, which differs from run to run.
        unknown: is said instead where Pillow does not know the format.
    """
    lines = str(error).splitlines() or [type(error).__name__]
    return unknown if "cannot identify" in lines[0] else lines[0]
