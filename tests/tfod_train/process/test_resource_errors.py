"""Memory or disk: told apart by the error that either ends in, with what to try."""

import errno

import pytest

from tfod_train.devices.devices import Devices
from tfod_train.process import resource_errors

FOUR_GPUS = Devices("gpu", 4, "0,1,2,3", ("/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3"))
OOM = (
    "OOM when allocating tensor with shape[8,64,300,300] and type float on /job:localhost/replica:0/task:0/"
    "device:GPU:2 by allocator GPU_2_bfc"
)


class ResourceExhaustedError(Exception):
    """As TensorFlow names its own."""


def test_tensorflows_error_means_memory_or_disk():
    memory, disk = ResourceExhaustedError(OOM), ResourceExhaustedError("/runs/x; No space left on device")
    assert (resource_errors.memory_is_full(memory), resource_errors.disk_is_full(memory)) == (True, False)
    assert (resource_errors.memory_is_full(disk), resource_errors.disk_is_full(disk)) == (False, True)
    assert resource_errors.memory_is_full(MemoryError()) and not resource_errors.memory_is_full(ValueError(OOM))


TWO_ROOTS = "2 root error(s) found.\n  (0) %s\n\t [[{{node Conv/Conv2D}}]]\n\t [[total_loss/_9637]]\n  (1) %s"


@pytest.mark.parametrize(
    "words",
    [
        "Internal: Dst tensor is not initialized.",
        "Internal: failed to allocate 1G: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
    ],
)
def test_a_full_gpu_has_other_words_too(words):
    error = RuntimeError(TWO_ROOTS % (words, words))
    assert resource_errors.memory_is_full(error)
    refused = resource_errors.full_memory(error, 16, FOUR_GPUS)
    assert refused.what == "Memory ran out on a GPU with a batch of 16 (4 on each device)."


@pytest.mark.parametrize(
    "words",
    [
        "Unknown: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize, so try",
        "Internal: Blas GEMM launch failed : a.shape=(8, 16), b.shape=(16, 4), m=8, n=4, k=16",
        "Internal: CUDNN_STATUS_INTERNAL_ERROR",
        "failed to run cuBLAS routine: CUBLAS_STATUS_EXECUTION_FAILED",
        "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
    ],
)
def test_an_error_of_cudas_libraries_is_told_as_the_gpus(words):
    refused = resource_errors.gpu_failed(RuntimeError(TWO_ROOTS % (words, words)))
    assert (refused.what, refused.code) == (f"The GPU failed: {words}.", 3)
    assert resource_errors.gpu_failed(ValueError("no node in the graph")) is None
    assert not resource_errors.memory_is_full(RuntimeError(words))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_quota_is_a_full_disk_too(number):
    assert resource_errors.disk_is_full(OSError(number, "words"))


@pytest.mark.parametrize(
    "batch, tried",
    [(32, "Try BATCH_SIZE=16;"), (12, "Try BATCH_SIZE=4;"), (4, "One image a device is the smallest batch")],
)
def test_out_of_memory_names_the_device_and_a_batch_that_divides(batch, tried):
    refused = resource_errors.full_memory(ResourceExhaustedError(OOM), batch, FOUR_GPUS)
    assert refused.what == (
        f"Memory ran out on GPU:2 with a batch of {batch} ({batch // 4} on each device); there was no room "
        "for a tensor of shape [8,64,300,300]."
    )
    assert refused.do.startswith(tried) and refused.code == 3


@pytest.mark.parametrize("code, words", [(-9, "memory ran out"), (-15, "signal 15"), (1, "exit code 1")])
def test_the_end_of_a_child_is_told_in_words(code, words):
    assert words in resource_errors.was_killed(code)
