"""Whose files are these? What a command writes goes into an empty folder, or over what is provably this program's.

The proof is a list (LIST) in the folder, written before anything else is, so that what a killed command left is known,
too. What no list names is the user's.
"""

import contextlib
import json
import os
from typing import Any, Dict, Iterable, List, Set

from common import files
from common.errors import UsageError
from common.text import counted

LIST = ".tfod-train.json"
# Left by programs that show or keep folders; nobody misses them, and nothing here writes them.
HARMLESS = {".gitkeep", ".gitignore", ".DS_Store", ".directory", "Thumbs.db", "desktop.ini", "lost+found"}
_NAMES_SHOWN = 5


def listed(folder: str) -> Set[str]:
    """The names that the list in a folder has, and the list itself."""
    return set(plain_names(read_object(os.path.join(folder, LIST)).get("files"))) | {LIST}


def foreign(folder: str, known: Iterable[str] = ()) -> List[str]:
    """Names in a folder that nothing shows to be this program's, sorted.

    Args:
        folder: it is there.
        known: names that are this program's for another reason than the list.
    """
    ours = listed(folder) | set(known)
    return sorted(
        name for name in os.listdir(folder) if name not in ours | HARMLESS and files.final_name(name) not in ours
    )


def refuse_foreign(folder: str, known: Iterable[str] = ()) -> None:
    """Raises UsageError, naming what is in the way, where a folder holds anything that is not provably ours."""
    names = foreign(folder, known)
    if names:
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        raise UsageError(
            f"{folder} holds {counted(len(names), 'file')} that this program did not write: "
            f"{', '.join(names[:_NAMES_SHOWN])}{more}.",
            "Name a new or an empty folder with --out, or move what is there.",
        )


def claim(folder: str, names: Iterable[str], known: Iterable[str] = ()) -> None:
    """Adds to the list the names that are about to be written, and what is there of those known to be ours."""
    there = set(os.listdir(folder))
    _write(folder, ((listed(folder) | set(known)) & there) | set(names))


def settle(folder: str) -> None:
    """Takes off the list what is not there, after the work; an empty list goes, too."""
    if os.path.exists(os.path.join(folder, LIST)):
        _write(folder, listed(folder) & set(os.listdir(folder)))


def _write(folder, names):
    path, names = os.path.join(folder, LIST), sorted(names - {LIST})
    # In ASCII: names of files need not be text in UTF-8.
    content = (json.dumps({"files": names}, indent=1) + "\n").encode("ascii")
    if not names:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    elif not os.path.exists(path) or files.read(path) != content:
        files.write(path, content)


def read_object(path: str) -> Dict[str, Any]:
    """A JSON object; {} where there is none, or something else."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def plain_names(values: Any) -> List[str]:
    """Those of some values that are names of files of the folder itself: no path that leads elsewhere."""
    given = values if isinstance(values, (list, tuple)) else ()
    return [value for value in given if isinstance(value, str) and value and value == os.path.basename(value)]
