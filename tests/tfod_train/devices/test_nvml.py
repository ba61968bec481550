"""NVML by its package: which GPUs are meant, and what has no answer."""

import inspect
import sys

import pytest

from tests.tfod_train.devices.fake_nvml import Error, Nvml
from tfod_train.devices import devices as device_choice
from tfod_train.devices import gpus
from tfod_train.devices import nvml as asked


def test_the_module_asked_is_made_like_that():
    import pynvml

    for name in (
        "nvmlInit",
        "nvmlShutdown",
        "nvmlDeviceGetCount",
        "nvmlDeviceGetHandleByIndex",
        "nvmlDeviceGetUUID",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetMemoryInfo",
    ):
        ours = inspect.signature(getattr(Nvml(), name)).parameters
        theirs = inspect.signature(getattr(pynvml, name)).parameters
        assert list(theirs)[: len(ours)] == list(ours), name
    assert pynvml.NVML_ERROR_NOT_SUPPORTED == 3
    assert issubclass(pynvml.NVMLError_NotSupported, pynvml.NVMLError)
    assert {"gpu", "memory"} <= {name for name, _ in pynvml.c_nvmlUtilization_t._fields_}
    assert {"total", "free", "used"} <= {name for name, _ in pynvml.c_nvmlMemory_t._fields_}


def test_preflight_and_the_choice_of_devices_ask_the_same_library(nvml):
    made = nvml(("GPU-aaaa", 10, 0), ("GPU-bbbb", 20, 0))
    assert device_choice.gpus_of_this_machine() == [("GPU-aaaa", "Tesla V100"), ("GPU-bbbb", "Tesla V100")]
    assert gpus.look().driver == "470.57" and gpus.look().gpus[1].capability == (7, 0)
    assert made.open == 0


@pytest.mark.parametrize(
    "entries, found", [(["1", "0"], [1, 0]), (["GPU-bb"], [1]), (["GPU-b", "0"], [1, 0]), ([], [])]
)
def test_gpus_are_named_by_number_or_by_the_beginning_of_a_uuid(nvml, entries, found):
    made = nvml(("GPU-aaaa", 0, 0), ("GPU-bbbb", 0, 0))
    assert asked.handles_of(made, entries) == found


@pytest.mark.parametrize("entries", [["2"], ["0", "GPU-c"], ["MIG-1"]])
def test_a_gpu_that_is_not_there_is_no_answer(nvml, entries):
    made = nvml(("GPU-aaaa", 0, 0), ("GPU-bbbb", 0, 0))
    with pytest.raises(asked.NoAnswer, match=f"it lists 2 GPUs, and not all of {', '.join(entries)}"):
        asked.handles_of(made, entries)


def test_a_session_is_closed_whatever_happens_in_it(nvml):
    made = nvml(("GPU-aaaa", 0, 0))
    with asked.session() as pynvml:
        assert (pynvml, made.open, asked.handles(pynvml)) == (made, 1, [0])
    with pytest.raises(asked.NoAnswer, match="GPU is lost"):
        with asked.session():
            raise Error(15)
    with pytest.raises(ZeroDivisionError):
        with asked.session():
            raise ZeroDivisionError  # not NVML's: a defect stays one
    assert made.open == 0


def test_without_driver_or_package_there_is_no_answer(nvml, monkeypatch):
    nvml(init_error=9)
    with pytest.raises(asked.NoAnswer, match="Driver Not Loaded"):
        with asked.session():
            pytest.fail("it began")
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(asked.NoAnswer, match="^$"):
        with asked.session():
            pytest.fail("it began")


def test_texts_may_be_bytes():
    assert asked.text(b"Tesla") == asked.text("Tesla") == "Tesla"
