"""What ran out, memory or disk, known by the error that it ends in."""

import errno
import re
from typing import Optional

from common.errors import PREFLIGHT_FAILED, Refused
from tfod_train.devices.devices import Devices

# What TensorFlow's InternalError says where a GPU's memory is full (tensorflow/tensorflow#7025; CUDA's own name).
GPU_MEMORY_WORDS = ("Dst tensor is not initialized", "CUDA_ERROR_OUT_OF_MEMORY")
# CUDA's libraries, as TensorFlow passes their errors on (tensorflow/tensorflow#34705, #38578, electra#136).
GPU_ERROR_WORDS = (
    "cuDNN failed to initialize",
    "CUDNN_STATUS_",
    "CUBLAS_STATUS_",
    r"Blas \w+ launch failed",
    "CUDA_ERROR_",
    "no kernel image is available",
)


def disk_is_full(error: BaseException) -> bool:
    """True for the system's own error and for TensorFlow's, which has it in its words."""
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or any(
        words in str(error) for words in ("No space left on device", "Disk quota exceeded")
    )


def memory_is_full(error: BaseException) -> bool:
    """True for Python's error and for TensorFlow's, whose ResourceExhaustedError may mean a disk as well."""
    return (
        isinstance(error, MemoryError)
        or (type(error).__name__ == "ResourceExhaustedError" and not disk_is_full(error))
        or any(words in str(error) for words in GPU_MEMORY_WORDS)
    )


def gpu_failed(error: BaseException) -> Optional[Refused]:
    """The Refused for an error of CUDA's libraries, in its own words; None for any other."""
    found = re.search("|".join(GPU_ERROR_WORDS), str(error))
    if not found:
        return None
    line = next(line for line in str(error).splitlines() if found.group(0) in line)
    words = re.sub(r"^ *\(\d+\) ", "", line).strip().rstrip(".")
    return Refused(
        f"The GPU failed: {words}.",
        "See with nvidia-smi whether another process holds its memory, and in docs/gpus.md whether it fits "
        "the image; the same command resumes from the newest checkpoint.",
        PREFLIGHT_FAILED,
    )


def full_disk(error: BaseException, folder: Optional[str] = None) -> Refused:
    """The Refused for an error where `disk_is_full`.

    Args:
        error: the system's or TensorFlow's.
        folder: what was being written to, where that is known.
    """
    name = getattr(error, "filename", None) or folder
    place = f" ({name})" if name else ""
    return Refused(
        f"The disk is full{place}.",
        "Free some space and run the same command again: what was saved before is kept.",
        PREFLIGHT_FAILED,
    )


def full_memory(error: BaseException, batch_size: int, devices: Devices) -> Refused:
    """The Refused for an error where `memory_is_full`.

    Args:
        error: Python's or TensorFlow's.
        batch_size: images per step over all devices.
        devices: those of the run.
    """
    where = _gpu_of(error) or ("a GPU" if devices.kind == "gpu" else "this machine")
    shape = re.search(r"shape\[([\d,]+)\]", str(error))
    tensor = f"; there was no room for a tensor of shape [{shape.group(1)}]" if shape else ""
    share = batch_size // devices.count
    what = f"Memory ran out on {where} with a batch of {batch_size} ({share} on each device){tensor}."
    smaller = share // 2 * devices.count
    if smaller:
        do = f"Try BATCH_SIZE={smaller}; a smaller image_resizer helps too."
    else:
        do = "One image a device is the smallest batch: take a smaller image_resizer or model."
    return Refused(what, do, PREFLIGHT_FAILED)


def in_words(error: BaseException) -> Optional[Refused]:
    """The Refused for what ends another command than a training so; None for an error of another kind."""
    if disk_is_full(error):
        return full_disk(error)
    if memory_is_full(error):
        where = _gpu_of(error) or "this machine or its GPU"
        return Refused(
            f"Memory ran out on {where}.",
            "Another process may hold it (nvidia-smi shows a GPU's): end that, take another GPU "
            "(EVAL_GPUS, CUDA_VISIBLE_DEVICES), or set DEVICE=cpu.",
            PREFLIGHT_FAILED,
        )
    return gpu_failed(error)


def was_killed(returncode: int) -> str:
    """A child's end in words, for subprocess's return code."""
    if returncode == -9:
        return "it was killed (signal 9), most often by the kernel because memory ran out: see dmesg"
    return f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"


def _gpu_of(error):
    """`GPU:0` of an error that names the device; "" for others."""
    found = re.search(r"device:(GPU:\d+)", str(error))
    return found.group(1) if found else ""
