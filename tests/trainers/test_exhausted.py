"""Memory or disk: told apart by the error that either ends in, with what to try."""
import errno

import pytest

from trainers import exhausted
from trainers.devices import Devices

FOUR_GPUS = Devices("gpu", 4, "0,1,2,3", ("/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3"))
OOM = ("OOM when allocating tensor with shape[8,64,300,300] and type float on /job:localhost/replica:0/task:0/"
       "device:GPU:2 by allocator GPU_2_bfc")


class ResourceExhaustedError(Exception):
    """As TensorFlow names its own."""


def test_tensorflows_error_means_memory_or_disk():
    memory, disk = ResourceExhaustedError(OOM), ResourceExhaustedError("/runs/x; No space left on device")
    assert (exhausted.memory_is_full(memory), exhausted.disk_is_full(memory)) == (True, False)
    assert (exhausted.memory_is_full(disk), exhausted.disk_is_full(disk)) == (False, True)
    assert exhausted.memory_is_full(MemoryError()) and not exhausted.memory_is_full(ValueError(OOM))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_quota_is_a_full_disk_too(number):
    assert exhausted.disk_is_full(OSError(number, "words"))


@pytest.mark.parametrize("batch, tried", [(32, "Try BATCH_SIZE=16;"), (12, "Try BATCH_SIZE=4;"),
                                          (4, "One picture a device is the smallest batch")])
def test_out_of_memory_names_the_device_and_a_batch_that_divides(batch, tried):
    told = exhausted.full_memory(ResourceExhaustedError(OOM), batch, FOUR_GPUS)
    assert told.what == ("Memory ran out on GPU:2 with a batch of %d (%d on each device); there was no room for a "
                         "tensor of shape [8,64,300,300]." % (batch, batch // 4))
    assert told.do.startswith(tried) and told.code == 3


@pytest.mark.parametrize("code, words", [(-9, "memory ran out"), (-15, "signal 15"), (1, "exit code 1")])
def test_the_end_of_a_child_is_told_in_words(code, words):
    assert words in exhausted.was_killed(code)
