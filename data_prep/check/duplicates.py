"""Where each record lies, and which share an id or an image, in 32 bytes a record."""

import array
import hashlib
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy

_NONE = 0


class Repeated(NamedTuple):
    """Records that share a value, as numbers in the order of `add`."""

    numbers: List[int]
    again: List[int]  # those of them that are not the first of their split
    across: bool  # they lie in more than one split


class Identities:
    """Remembers place, id and image of every record; ids and images as 64-bit hashes."""

    def __init__(self) -> None:
        self._files: List[str] = []
        self._splits: Dict[str, int] = {}
        self._file, self._split = array.array("I"), array.array("I")
        self._offset = array.array("Q")
        self._hashes = {"id": array.array("Q"), "image": array.array("Q")}

    def __len__(self) -> int:
        return len(self._offset)

    def add(self, path: str, split: str, offset: int, identity: bytes, image: bytes) -> None:
        """Remember a record.

        Args:
            path: its file.
            split: of that file.
            offset: the byte at which it begins.
            identity: its id; empty where there is none, which equals nothing.
            image: the image file's bytes, empty likewise.
        """
        if not self._files or self._files[-1] != path:
            self._files.append(path)
        self._file.append(len(self._files) - 1)
        self._split.append(self._splits.setdefault(split, len(self._splits)))
        self._offset.append(offset)
        for name, value in (("id", identity), ("image", image)):
            self._hashes[name].append(_hash(value) if value else _NONE)

    def place(self, number: int) -> Tuple[str, int]:
        """(path, offset) of a record."""
        return self._files[self._file[number]], self._offset[number]

    def sample(self, count: Optional[int]) -> Sequence[int]:
        """Numbers of records spread evenly over all; the same every time.

        Args:
            count: how many, None for all.
        """
        if count is None or count >= len(self):
            return range(len(self))
        return [index * len(self) // count for index in range(count)]

    def repeated(self, what: str) -> Iterator[Repeated]:
        """The values that several records share.

        Args:
            what: "id" or "image".

        Yields:
            a Repeated for each.
        """
        hashes = numpy.frombuffer(self._hashes[what], dtype=numpy.uint64)
        order = numpy.argsort(hashes, kind="stable")
        ordered = hashes[order]
        if not len(ordered):
            return
        starts = numpy.flatnonzero(numpy.concatenate(([True], ordered[1:] != ordered[:-1])))
        ends = list(starts[1:]) + [len(ordered)]
        groups = [order[start:end] for start, end in zip(starts, ends) if end - start > 1 and ordered[start] != _NONE]
        for group in sorted(groups, key=lambda numbers: numbers[0]):
            numbers = [int(number) for number in group]
            seen, again = set(), []
            for number in numbers:
                if self._split[number] in seen:
                    again.append(number)
                seen.add(self._split[number])
            yield Repeated(numbers, again, len(seen) > 1)


def _hash(value):
    return int.from_bytes(hashlib.blake2b(value, digest_size=8).digest(), "little") or 1
