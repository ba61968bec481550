"""Shards are converted by worker processes, each from its first image to its last.

So nothing large travels between processes, and their number changes no byte. Nothing is kept of an image unless
`dataset.json` names it: of the others only counts and a checksum for each shard, so that memory does not grow.
"""

import collections
import contextlib
import hashlib
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing import connection
from typing import Any, Callable, Counter, Dict, List, NamedTuple, Sequence, Tuple

from common import files
from common.errors import DataError
from common.progress import Progress
from data_prep.tfrecord import codec
from data_prep.writer import balance, malloc
from data_prep.writer.outcome import Outcome

_SECONDS_BETWEEN_REPORTS = 0.1


class Task(NamedTuple):
    """A shard to be written: every n-th id of a split, starting with its number-th."""

    split: str
    number: int
    ids: List[str]
    path: str


class Shard(NamedTuple):
    """A finished shard, on the disk under its temporary name.

    labels: {class id: boxes}. sizes: {(width, height): images}.
    """

    task: Task
    unfinished: str
    written: codec.Written
    labels: Counter[int]
    most_boxes: int
    sizes: Counter[Tuple[int, ...]]
    sources_sha256: str  # of "<sha256 of the image file> <id>\n" for each image that was converted, in order
    digests: bytes  # balance.DIGEST_BYTES of each image's checksum, zeros where it was skipped
    notable: List[
        Tuple[int, str, Outcome]
    ]  # (place among the task's ids, id, Outcome without features) of what was skipped or changed


def run(tasks: Sequence[Task], convert: Callable[[str], Outcome], workers: int) -> List[Shard]:
    """Convert the tasks and return their Shards, in the same order.

    Args:
        tasks: the shards to be written.
        convert: function(id) -> Outcome.
        workers: how many processes at most.

    Raises:
        DataError: a conversion or the disk fails; what was begun is left to `files.remove_temporaries`.
    """
    left, disk = iter(range(len(tasks))), _Disk()
    shards: Dict[int, Shard] = {}
    processes: Dict[Any, multiprocessing.Process] = {}
    try:
        for _ in range(min(workers, len(tasks))):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(
                target=_work, daemon=True, args=(tasks, convert, theirs, list(processes) + [ours])
            )
            process.start()
            theirs.close()
            processes[ours] = process
            _give(ours, left)
        with Progress("Converting", sum(len(task.ids) for task in tasks), "images") as progress:
            while processes:
                for ready in connection.wait(list(processes)):
                    message = _message(ready, processes)
                    if isinstance(message, int):
                        progress.update(message)
                    elif message:
                        number, shard = message
                        _give(ready, left)
                        shards[number] = shard._replace(task=tasks[number])
                        disk.sync(shard.unfinished)
        disk.wait()
    finally:
        for process in processes.values():
            process.terminate()
            process.join()
    return [shards[number] for number in range(len(tasks))]


class _Disk:
    """Waits for files to be on the disk while others are converted."""

    def __init__(self) -> None:
        self._threads: List[threading.Thread] = []
        self._errors: List[OSError] = []

    def sync(self, path: str) -> None:
        thread = threading.Thread(target=self._sync, args=(path,), daemon=True)
        thread.start()
        self._threads.append(thread)

    def wait(self) -> None:
        """Returns when all are.

        Raises:
            DataError: one cannot be written.
        """
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise _not_written(self._errors[0])

    def _sync(self, path):
        try:
            files.sync(path)
        except OSError as error:
            self._errors.append(error)


def _not_written(error):
    return DataError(
        f"A shard could not be written: {error.strerror or error}.",
        "Free space on the disk or correct its permissions, and run the same command again.",
    )


def _give(ours, left):
    """Send a worker the number of its next task, or None."""
    with contextlib.suppress(ConnectionError):  # it was killed: `_message` says so
        ours.send(next(left, None))


def _message(ours, processes):
    """What a worker sends: images done, or (number of its task, Shard without it); None when it has ended."""
    try:
        message = ours.recv()
    except (EOFError, ConnectionError) as error:
        process = processes.pop(ours)
        process.join()
        if process.exitcode:
            raise DataError(
                f"A conversion process ended with exit code {process.exitcode}.",
                "If it is -9 the machine ran out of memory: ask for fewer processes with --workers.",
            ) from error
        return None
    if isinstance(message, DataError):
        raise message
    return message


def _work(tasks, convert, pipe, of_the_parent):
    """Convert the tasks whose numbers come through the pipe, until None does."""
    # Ctrl-C reaches every process of the terminal; the parent alone decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in of_the_parent:
        end.close()  # or the pipe would stay open where the parent is killed
    malloc.keep_freed()
    try:
        pipe.send(_convert_all(tasks, convert, pipe))
    except (ConnectionError, EOFError):
        os._exit(1)  # the parent is gone; the next run waits for the lock, which is this process's too


def _convert_all(tasks, convert, pipe):
    """0 when all is done, else the error."""
    try:
        number: int
        for number in iter(pipe.recv, None):
            # Its ids are those of the task: they need not travel back.
            pipe.send((number, _write(tasks[number], convert, pipe.send)._replace(task=None)))
    except DataError as error:
        return error
    except ConnectionError:
        raise
    except OSError as error:
        return _not_written(error)
    return 0


def _digest(outcome):
    if outcome.features is None:
        return bytes(balance.DIGEST_BYTES)
    return bytes.fromhex(outcome.source_sha256)[: balance.DIGEST_BYTES].ljust(balance.DIGEST_BYTES, b"\0")


def _write(task, convert, report):
    """The Shard of a task. report: is given the number of images done since it was called last."""
    unfinished = files.temporary(task.path)
    labels: Counter[int] = collections.Counter()
    sizes: Counter[Tuple[int, ...]] = collections.Counter()
    notable: List[Tuple[int, str, Outcome]] = []
    most_boxes = 0
    sources = hashlib.sha256()
    digests = bytearray()
    reported, last_report = 0, time.monotonic()
    with codec.Writer(unfinished) as writer:
        for place, image_id in enumerate(task.ids):
            outcome = convert(image_id)
            if outcome.features is not None:
                writer.write(codec.encode(outcome.features))
                labels.update(outcome.labels)
                most_boxes = max(most_boxes, len(outcome.labels))
                sizes[outcome.size] += 1
                sources.update((f"{outcome.source_sha256} {image_id}\n").encode("utf-8"))
            digests += _digest(outcome)
            if outcome.skipped or outcome.notes:
                notable.append((place, image_id, outcome._replace(features=None, labels=(), source_sha256="")))
            if time.monotonic() - last_report > _SECONDS_BETWEEN_REPORTS:
                report(place + 1 - reported)
                reported, last_report = place + 1, time.monotonic()
    report(len(task.ids) - reported)
    return Shard(
        task, unfinished, writer.written, labels, most_boxes, sizes, sources.hexdigest(), bytes(digests), notable
    )
