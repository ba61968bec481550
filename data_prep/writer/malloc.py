"""Memory that a worker process freed stays with it for the next image."""

import ctypes

# <malloc.h> of glibc; see mallopt(3), which also gives the largest threshold that is taken.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_TRIM_BYTES, _MMAP_BYTES = 64 << 20, 32 << 20


def keep_freed() -> None:
    """Let malloc keep what is freed, up to 64 MiB, where the C library is glibc.

    It gives an image's few hundred kilobytes back to the system at once otherwise, which has to clear them again
    for the next image: with masks that was a tenth of all time.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return  # another C library, with another malloc
    mallopt(_MMAP_THRESHOLD, _MMAP_BYTES)
    mallopt(_TRIM_THRESHOLD, _TRIM_BYTES)
