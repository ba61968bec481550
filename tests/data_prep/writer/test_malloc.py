"""What a worker frees is used again, and not given back to be cleared anew."""

import ctypes
import os
import subprocess
import sys

import pytest

from data_prep.writer import dataset, malloc, shard_workers

# Three buffers as those of an image with a mask, as often as in a shard of 300. A page is 4 KiB.
COUNT_FAULTS = """
import ctypes, resource, sys
from data_prep.writer import malloc
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
if sys.argv[1] == "kept":
    malloc.keep_freed()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(300):
    held = [libc.malloc(190000) for _ in range(3)]
    for at in held:
        ctypes.memset(at, 1, 190000)
    for at in reversed(held):
        libc.free(at)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how):
    return int(subprocess.check_output([sys.executable, "-c", COUNT_FAULTS, how]))


def test_a_page_is_cleared_once_and_not_once_a_image():
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("the C library is not glibc")
    kept = faults("kept")
    assert kept < 1000 and faults("given back") > 10 * kept


def test_every_process_that_converts_keeps_what_it_frees(tmp_path, monkeypatch):
    def convert(image_id):
        return dataset.Outcome(None, skipped="none of them is there")

    monkeypatch.setattr(malloc, "keep_freed", lambda: (tmp_path / (f"kept-{os.getpid()}")).touch())
    tasks = [shard_workers.Task("train", number, ["a"], str(tmp_path / (f"shard-{number}"))) for number in range(2)]
    shard_workers.run(tasks, convert, workers=2)
    assert len(list(tmp_path.glob("kept-*"))) == 2
    assert not (tmp_path / (f"kept-{os.getpid()}")).exists()
