"""A folder with the API in it: which patches it has, applying them, and what they change.

The original of every changed file is kept in `.pristine/` and `.patches.json` records what was written, so
that a patched tree can be told from one that somebody edited, patched again with other patches, or compared.
"""

import compileall
import difflib
import functools
import hashlib
import importlib
import importlib.util
import json
import os
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from object_detection_patches import source
from object_detection_patches.errors import PatchError, SourceError, WrongName
from object_detection_patches.patch import Patch
from object_detection_patches.patches import PATCHES

RECORD = ".patches.json"
PRISTINE = ".pristine"
_ADDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "added")

# What RECORD holds: the names of the `patches` and, for each of the `files`, the hashes of its original and of what
# was written.
_Record = Dict[str, Any]


class Report(NamedTuple):
    """What `verify` found.

    Attributes:
        pristine: paths of the Python files that are upstream's.
        patched: those that are what the patches make.
        outdated: those written by another version of the patches.
        foreign: those that are neither upstream's nor ours, or that are missing.
        patches: names of the patches in the tree.
    """

    pristine: Tuple[str, ...]
    patched: Tuple[str, ...]
    outdated: Tuple[str, ...]
    foreign: Tuple[str, ...]
    patches: Tuple[str, ...]


def select(only: Sequence[str] = (), without: Sequence[str] = ()) -> List[Patch]:
    """Chooses patches by name.

    Args:
        only: names of those to take; none means all.
        without: names of those to leave out.

    Returns:
        The patches, in the order in which they are applied.

    Raises:
        WrongName: no patch has one of the names.
    """
    for name in list(only) + list(without):
        if name not in PATCHES:
            near = difflib.get_close_matches(name, PATCHES, n=1)
            raise WrongName(
                f"There is no patch {name!r}.",
                f"Did you mean {near[0]}?" if near else f"Take one of: {', '.join(PATCHES)}.",
            )
    chosen = [name for name in PATCHES if (not only or name in only) and name not in without]
    return [importlib.import_module(f"object_detection_patches.patches.{name}").PATCH for name in chosen]


def apply(root: str, patches: Sequence[Patch]) -> List[str]:
    """Makes a tree hold exactly these patches, and compiles its modules.

    Everything is worked out before anything is written.

    Args:
        root: the folder of the tree.
        patches: as `select` returns them.

    Returns:
        The paths it wrote or removed, sorted.

    Raises:
        PatchError: a construct is not there exactly once.
        SourceError: not a tree of the API, or a file that was patched before has been edited by hand.
    """
    record = _read_record(root)
    wanted = _patched(root, patches, lambda path: _original(root, record, path))
    originals = {path: _original(root, record, path) for path in set(wanted) | set(record["files"])}
    # A path that was patched and is no longer goes back to its original, or away if it was ours.
    content = {path: wanted.get(path, originals[path]) for path in originals}
    written = sorted(path for path, data in content.items() if data != _read(root, path))

    names = [patch.name for patch in patches]
    files = {path: {"original": _sha256(originals[path]), "patched": _sha256(data)} for path, data in wanted.items()}
    if written or record["files"] != files or record["patches"] != names:
        # Recorded before the first write too: a run that is stopped half-way leaves only files the next one
        # knows.
        _write_record(
            root,
            names,
            {
                path: dict(files.get(path, {"original": _sha256(originals[path])}), was=_sha256(_read(root, path)))
                for path in content
            },
        )
        for path in wanted:
            if originals[path] is not None:
                _write(root, os.path.join(PRISTINE, path), originals[path])
        for path in written:
            _write(root, path, content[path])
        _write_record(root, names, files)
        for path in record["files"]:
            if path not in wanted:
                _write(root, os.path.join(PRISTINE, path), None)
    _compile(root)
    return written


def verify(root: str) -> Report:
    """Compares every Python file of a tree with upstream's ids and with what the patches make.

    Args:
        root: the folder of the tree.

    Returns:
        A Report.

    Raises:
        SourceError: not a tree of the API, or its record is damaged.
    """
    _check_is_api(root)
    record = _read_record(root)
    expected = {_place(root, path): blob for path, blob in source.blob_ids().items()}
    try:
        patches = select(only=record["patches"]) if record["patches"] else []
        wanted = _patched(root, patches, lambda path: _kept(root, record, path))
    except (PatchError, SourceError, WrongName):
        wanted = {}
    found: Dict[str, List[str]] = {"pristine": [], "patched": [], "outdated": [], "foreign": []}
    for path in sorted(set(expected) | set(record["files"]) | set(source.python_files(root))):
        entry = record["files"].get(path, {})
        found[_state(_read(root, path), expected.get(path), entry, wanted.get(path))].append(path)
    return Report(patches=tuple(record["patches"]), **{state: tuple(paths) for state, paths in found.items()})


def diff(root: str, patches: Sequence[Patch]) -> Iterator[str]:
    """Compares the original files with the patched ones.

    Args:
        root: the folder of the tree, patched or not.
        patches: as `select` returns them.

    Yields:
        The lines of a unified diff, with their ends.
    """
    record = _read_record(root)
    patched = _patched(root, patches, lambda path: _original(root, record, path))
    for path, data in sorted(patched.items()):
        original = _original(root, record, path)
        yield from difflib.unified_diff(
            _lines(original), _lines(data), "/dev/null" if original is None else "a/" + path, "b/" + path
        )


def _state(data: Optional[bytes], blob: Optional[str], entry: Dict[str, str], wanted: Optional[bytes]) -> str:
    # The state of one file: its content, upstream's id of it, what the record says of it, what the patches
    # make of it.
    if data is None:
        return "foreign"
    if data == wanted:
        return "patched"
    if _sha256(data) == entry.get("patched"):
        return "outdated"
    # A checkout on Windows has the same lines with other ends.
    if blob in (source.blob_id(data), source.blob_id(data.replace(b"\r\n", b"\n"))):
        return "pristine"
    return "foreign"


def _patched(root: str, patches: Sequence[Patch], original: Callable[[str], Optional[bytes]]) -> Dict[str, bytes]:
    # The content of every file the patches change or add, by path. original: from a path to its content.
    _check_is_api(root)
    content: Dict[str, bytes] = {}
    for patch in patches:
        for name in patch.files:
            path = _place(root, name)
            data = content[path] if path in content else original(path)
            if data is None:
                raise PatchError(patch.name, path, "the file", 0)
            content[path] = _edited(patch, name, path, data)
        for name in patch.adds:
            path = _place(root, name)
            if original(path) is not None:
                raise SourceError(
                    f"The file {path}, which the patch {patch.name} adds, is there and is not ours.", "Move it away."
                )
            with open(os.path.join(_ADDED, *name.split("/")), "rb") as added:
                content[path] = added.read()
    return content


# Kept, because what is applied is often compared afterwards, and all edits of the API take seconds.
@functools.lru_cache(maxsize=None)
def _edited(patch: Patch, name: str, path: str, data: bytes) -> bytes:
    # The content of a file, which is `data`, with the edits of one patch. `name` is the patch's word for `path`.
    # Imported here: LibCST takes longer to import than most commands take to run.
    from object_detection_patches import edits

    file = edits.File(patch.name, path, data)
    patch.transform(name, file)
    return file.data


def _original(root: str, record: _Record, path: str) -> Optional[bytes]:
    # The content of a file before any patch, None for a file that only the patches bring. One that is neither
    # its original nor what was written is refused; one that was deleted comes back.
    data = _read(root, path)
    entry = record["files"].get(path)
    if entry is None or _sha256(data) == entry["original"]:
        return data
    if data is not None and _sha256(data) not in (entry.get("patched"), entry.get("was")):
        raise SourceError(
            f"{os.path.join(root, path)} was changed by hand after it was patched.",
            f"Put it back, or remove {root} and fetch it again.",
        )
    return _kept(root, record, path)


def _kept(root: str, record: _Record, path: str) -> Optional[bytes]:
    # The original of a file that has been patched, and the content of any other.
    entry = record["files"].get(path)
    if entry is None:
        return _read(root, path)
    if entry["original"] is None:
        return None
    data = _read(root, os.path.join(PRISTINE, path))
    if _sha256(data) != entry["original"]:
        raise SourceError(
            f"The original of {os.path.join(root, path)} is missing or changed.", f"Remove {root} and fetch it again."
        )
    return data


def _place(root: str, path: str) -> str:
    # In a checkout of tensorflow/models, slim's packages are not beside object_detection but one folder down.
    if not path.startswith("object_detection/") and os.path.isdir(os.path.join(root, "slim", "deployment")):
        return "slim/" + path
    return path


def _check_is_api(root: str) -> None:
    if not os.path.isdir(os.path.join(root, "object_detection")):
        raise SourceError(
            f"{root} holds no Object Detection API.", f"Bring it with: python -m object_detection_patches fetch {root}"
        )


def _read(root: str, path: str) -> Optional[bytes]:
    try:
        with open(os.path.join(root, path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(root: str, path: str, data: Optional[bytes]) -> None:
    target = os.path.join(root, path)
    if path.endswith(".py") and PRISTINE not in path:
        # A .pyc is taken for current if size and second agree, which two patched versions of a file can.
        _remove(importlib.util.cache_from_source(target))
    if data is None:
        _remove(target)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = target + ".tmp"
    with open(temporary, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, target)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


def _read_record(root: str) -> _Record:
    data = _read(root, RECORD)
    if data is None:
        return {"format": 1, "patches": [], "files": {}}
    try:
        return json.loads(data.decode())
    except ValueError as error:
        raise SourceError(f"{os.path.join(root, RECORD)} is damaged.", f"Remove {root} and fetch it again.") from error


def _write_record(root: str, patches: List[str], files: Dict[str, Dict[str, Optional[str]]]) -> None:
    record = {"format": 1, "patches": patches, "files": files}
    _write(root, RECORD, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode())


def _compile(root: str) -> None:
    # Imports of a tree without .pyc files cost seconds at every start where the user cannot write them.
    compileall.compile_dir(root, quiet=2, rx=re.compile(r"[/\\]\.[^/\\.]"))


def _sha256(data: Optional[bytes]) -> Optional[str]:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _lines(data: Optional[bytes]) -> List[str]:
    return [] if data is None else data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
