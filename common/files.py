"""Files that are either whole under their final name or not there at all, and one writer at a time."""

import contextlib
import fcntl
import json
import os
import re
import shutil
from typing import Any, Callable, Iterator, List, Optional

from common.errors import DataError

_TEMPORARY = ".tmp"
# With the process's number: `.notes.tmp` is somebody else's.
_OURS = re.compile(r"\.(?P<final>.+)\.\d+" + re.escape(_TEMPORARY) + "$")


def read(path: str) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it cannot be read.
    """
    # A buffer between would cost a third of the time for a file of a kilobyte.
    with open(path, "rb", buffering=0) as file:
        return file.readall()


def size(path: str) -> int:
    """The bytes that a file has, 0 where there is none that can be seen."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def temporary(path: str) -> str:
    """A name beside path for the unfinished file; `remove_temporaries` finds it after a crash."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}{_TEMPORARY}")


def final_name(name: str) -> Optional[str]:
    """The name that the file of a temporary name was to get; None for any other name."""
    found = _OURS.match(name)
    return found.group("final") if found else None


def unfinished(path: str) -> List[str]:
    """The temporary names beside path under which a killed process was writing it."""
    folder, name = os.path.split(os.path.abspath(path))
    return [other for other in os.listdir(folder) if final_name(other) == name]


def remove_temporaries(folder: str) -> None:
    """Remove what killed runs left in folder."""
    for name in os.listdir(folder):
        if final_name(name) is not None:
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def write(path: str, data: bytes, durable: bool = True, before: Callable[[], None] = lambda: None) -> None:
    """Write bytes under a temporary name, flushed to the disk, then renamed. What fails leaves nothing behind.

    Args:
        path: the file.
        data: what it will hold.
        durable: False does not wait for the disk, for what means nothing after the machine went down.
        before: function(), called when the data are written and have not yet their name.
    """
    try:
        written = write_temporary(path, data, durable)
        before()
        os.replace(written, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary(path))
        raise


def write_text(path: str, text: str) -> None:
    """As `write`, of text in UTF-8."""
    write(path, text.encode("utf-8"))


def write_temporary(path: str, data: bytes, durable: bool = True) -> str:
    """Write bytes under path's temporary name, flushed to the disk; return that name."""
    unfinished = temporary(path)
    with open(unfinished, "wb") as file:
        file.write(data)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    return unfinished


def sync(path: str) -> None:
    """Wait until a file that was written and closed, or a folder's list of names, is on the disk.

    Raises:
        OSError: it does not get there.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def json_bytes(value: Any) -> bytes:
    """value as JSON that people can read and diff."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8")


@contextlib.contextmanager
def file_errors() -> Iterator[None]:
    """What the file system refuses becomes a DataError that says so; output that nobody reads is no such thing."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename:
            raise DataError(
                f"{error.filename}: {error.strerror or error}.", "Correct that and run the same command again."
            ) from error
        raise DataError(
            f"A file could not be read or written: {error.strerror or error}.",
            "Free space on the disk, or see what is wrong with it, and run the same command again.",
        ) from error


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold folder, made if missing, against another process preparing it; waits for that one to end.

    Raises:
        DataError: what the file system refuses meanwhile.
    """
    with file_errors():
        os.makedirs(folder, exist_ok=True)
        with _lock(folder):
            yield


@contextlib.contextmanager
def _lock(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another process is preparing {folder}; waiting for it.", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            # Some network file systems cannot lock a folder; the temporary names still keep every file whole.
            pass
        yield
    finally:
        os.close(handle)
