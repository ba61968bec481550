"""NVML, the library of NVIDIA's driver that answers questions about GPUs, by its Python package (nvidia-ml-py)."""

import contextlib
from typing import Any, Iterator, List, Union


class NoAnswer(Exception):
    """There is no library or no driver ("" as its text), or NVML ended with an error, which is the text."""


@contextlib.contextmanager
def session() -> Iterator[Any]:
    """The module pynvml, ready to be asked; costs milliseconds and no GPU memory.

    Raises:
        NoAnswer: on entering, or where what is asked within ends in NVML's error.
    """
    try:
        import pynvml
    except ImportError as error:
        raise NoAnswer("") from error
    try:
        pynvml.nvmlInit()
        try:
            yield pynvml
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise NoAnswer(str(error)) from error


def text(value: Union[bytes, str]) -> str:
    """str of what some versions of the package give as bytes."""
    return value.decode() if isinstance(value, bytes) else value


def handles(pynvml: Any) -> List[Any]:
    """Handles of all GPUs that the driver shows, in the order of the PCI bus."""
    return [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]


def handles_of(pynvml: Any, entries: List[str]) -> List[Any]:
    """Handles of the GPUs that entries of CUDA_VISIBLE_DEVICES name.

    Args:
        pynvml: the module of `session`.
        entries: indices in the order of the PCI bus, or beginnings of UUIDs.

    Raises:
        NoAnswer: one of them is not there.
    """
    known = [
        (str(index), text(pynvml.nvmlDeviceGetUUID(handle)), handle) for index, handle in enumerate(handles(pynvml))
    ]
    found = [
        [handle for index, uuid, handle in known if entry == index or (not entry.isdigit() and uuid.startswith(entry))]
        for entry in entries
    ]
    if not all(found):
        raise NoAnswer(f"it lists {len(known)} GPUs, and not all of {', '.join(entries)}")
    return [of_entry[0] for of_entry in found]
