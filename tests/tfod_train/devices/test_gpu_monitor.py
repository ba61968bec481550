"""GPUs made up at NVML's boundary, the module pynvml: what is said of their use, and what of NVML's failures."""

import inspect
import sys
import time
import types

import pytest

from tfod_train.devices import devices as device_choice
from tfod_train.devices import gpu_monitor, gpus

MIB = 2**20


class Error(Exception):
    def __init__(self, value):
        super(Error, self).__init__({3: "Not Supported", 9: "Driver Not Loaded", 15: "GPU is lost"}[value])
        self.value = value


class Nvml(types.ModuleType):
    """pynvml for GPUs of which each is [uuid, percent, bytes in use]; an Error in place of an answer is raised."""

    NVMLError = Error
    NVML_ERROR_NOT_SUPPORTED = 3

    def __init__(self, *listed, **how):
        super(Nvml, self).__init__("pynvml")
        self.listed = [list(gpu) for gpu in listed]
        self.init_error = how.get("init_error")
        self.open = 0
        self.asked = 0

    def nvmlInit(self):
        if self.init_error:
            raise Error(self.init_error)
        self.open += 1

    def nvmlShutdown(self):
        self.open -= 1

    def nvmlDeviceGetCount(self):
        return len(self.listed)

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetUUID(self, handle):
        return self.listed[handle][0].encode()

    def nvmlDeviceGetName(self, handle):
        return "Tesla V100"

    def nvmlDeviceGetCudaComputeCapability(self, handle):
        return 7, 0

    def nvmlSystemGetDriverVersion(self):
        return b"470.57"

    def _answer(self, handle, column):
        self.asked += 1
        answer = self.listed[handle][column]
        if isinstance(answer, Error):
            raise answer
        return answer

    def nvmlDeviceGetUtilizationRates(self, handle):
        return types.SimpleNamespace(gpu=self._answer(handle, 1), memory=99)

    def nvmlDeviceGetMemoryInfo(self, handle):
        return types.SimpleNamespace(total=10**12, free=5, used=self._answer(handle, 2))


@pytest.fixture
def nvml(monkeypatch):
    """function(*gpus, **how) -> Nvml, which is what `import pynvml` gives from then on."""

    def install(*listed, **how):
        made = Nvml(*listed, **how)
        monkeypatch.setitem(sys.modules, "pynvml", made)
        return made

    return install


@pytest.fixture
def watch(monkeypatch):
    """function(entries) -> (GpuWatch that asks every 10 ms, the list of what it logs)."""
    monkeypatch.setattr(gpu_monitor, "PERIOD_SECS", 0.01)
    monkeypatch.setattr(gpu_monitor, "SHOWN_SECS", 0.3)
    monkeypatch.setattr(gpu_monitor, "IDLE_SECS", 0.6)

    def make(entries):
        sentences = []
        return gpu_monitor.GpuWatch(entries, sentences.append), sentences

    return make


def steps(watched, secs, until=lambda: False):
    """Steps of 10 ms, one after the other."""
    end = time.time() + secs
    while time.time() < end and not until():
        began = time.time()
        time.sleep(0.01)
        watched.step(began, time.time())


def until_known(watched):
    steps(watched, 20, lambda: watched.now())
    return watched.now()


def heard(*percents):
    """Samples as the thread takes them, one a second from 0 s on, of one GPU."""
    return [(float(second), [gpu_monitor.Use(percent, 1000)]) for second, percent in enumerate(percents)]


def fed(samples, spans):
    """A GpuWatch that heard these samples, and of steps in these (begin, end) spans."""
    watched = gpu_monitor.GpuWatch(["0"])
    waiting = list(samples)
    for began, ended in spans:
        while waiting and waiting[0][0] <= ended:
            watched._heard.append(waiting.pop(0))
        watched.step(began, ended)
    return watched


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


def test_each_gpu_of_the_run_is_told_of_in_the_order_of_its_devices(nvml, watch, read_settings):
    nvml(("GPU-aaaa", 10, 100 * MIB), ("GPU-bbbb", 20, 200 * MIB), ("GPU-cccc", 30, 300 * MIB))
    settings = read_settings(CUDA_VISIBLE_DEVICES="2,GPU-a")
    devices = device_choice.choose(settings, device_choice.gpus_of_this_machine())
    assert device_choice.entries(devices) == ["2", "GPU-a"]
    watched, sentences = watch(device_choice.entries(devices))
    with watched:
        assert watched.now() == []
        assert until_known(watched) == [gpu_monitor.Use(30.0, 300), gpu_monitor.Use(10.0, 100)]
    assert sentences == []


def test_preflight_and_the_choice_of_devices_ask_the_same_library(nvml):
    made = nvml(("GPU-aaaa", 10, 0), ("GPU-bbbb", 20, 0))
    assert device_choice.gpus_of_this_machine() == [("GPU-aaaa", "Tesla V100"), ("GPU-bbbb", "Tesla V100")]
    assert gpus.look().driver == "470.57" and gpus.look().gpus[1].capability == (7, 0)
    assert made.open == 0


def test_on_the_cpu_nothing_is_asked(nvml, watch, two_cpus):
    made = nvml(("GPU-aaaa", 10, 0))
    watched, sentences = watch(device_choice.entries(two_cpus))
    with watched:
        steps(watched, 0.1)
        assert (watched.now(), watched.newly_idle()) == ([], [])
    assert (made.asked, sentences) == (0, [])


@pytest.mark.parametrize(
    "install, why",
    [
        (lambda nvml, monkeypatch: monkeypatch.setitem(sys.modules, "pynvml", None), "it is not installed"),
        (lambda nvml, monkeypatch: nvml(("GPU-aaaa", 1, 1), init_error=9), "Driver Not Loaded"),
        (lambda nvml, monkeypatch: nvml(("GPU-aaaa", 1, 1)), "it lists 1 GPUs, and not all of 0, 1"),
    ],
)
def test_without_library_driver_or_gpu_nothing_is_shown_and_the_log_says_why(nvml, watch, monkeypatch, install, why):
    install(nvml, monkeypatch)
    watched, sentences = watch(["0", "1"])
    with watched:
        steps(watched, 20, lambda: sentences)
        assert (watched.now(), watched.newly_idle(), gpu_monitor.text(watched.now())) == ([], [], "")
    assert sentences == [f"The use of the GPUs is not shown: NVML does not answer ({why})."]


def test_a_library_that_fails_in_the_middle_ends_the_showing_and_nothing_else(nvml, watch):
    made = nvml(("GPU-aaaa", 0, 100 * MIB))
    watched, sentences = watch(["0"])
    with watched:
        assert until_known(watched) == [gpu_monitor.Use(0.0, 100)]
        made.listed[0][1] = Error(15)
        steps(watched, 20, lambda: sentences)
        assert watched.now() == []
        steps(watched, 0.1)
        assert watched.newly_idle() == []
    assert sentences == ["The use of the GPUs is not shown from here on: NVML does not answer (GPU is lost)."]
    assert made.open == 0


def test_what_a_gpu_does_not_tell_is_left_out(nvml, watch):
    nvml(("GPU-aaaa", Error(3), 2048 * MIB), ("GPU-bbbb", 50, Error(3)))
    watched, sentences = watch(["0", "1"])
    with watched:
        uses = until_known(watched)
        steps(watched, 2, lambda: watched.newly_idle())
    assert uses == [gpu_monitor.Use(None, 2048), gpu_monitor.Use(50.0, None)]
    assert gpu_monitor.text(uses) == "  GPU ?/50 % 2.0 GiB"
    assert sentences == []


def test_an_idle_gpu_is_named_once_and_a_busy_one_is_not(nvml, watch):
    nvml(("GPU-aaaa", 80, 0), ("GPU-bbbb", 4, 0))
    watched, _ = watch(["0", "GPU-b"])
    named = []
    with watched:
        steps(watched, 20, lambda: named.extend(watched.newly_idle()) or named)
        steps(watched, 1.5, lambda: named.extend(watched.newly_idle()))
    assert named == [("GPU-b", 4.0)]


STEP_BY_STEP = [(second, second + 1) for second in range(100)]


@pytest.mark.parametrize(
    "percents, spans, idle",
    [
        ([0] * 59, STEP_BY_STEP, []),
        ([0] * 100, STEP_BY_STEP, [("0", 0.0)]),
        # 6 % on the mean of a minute, though most seconds show nothing
        (([0] * 5 + [60] + [0] * 4) * 10, STEP_BY_STEP[:60], []),
        # A minute of saving between steps is not one of training.
        ([80] * 30 + [0] * 70, STEP_BY_STEP[:30] + [(95, 96)], []),
        # Nor are short saves every few steps, if they came to most of the time.
        (
            [9, 9, 9, 0, 0, 0, 0, 0, 0, 0] * 30,
            [span for ten in range(0, 300, 10) for span in ((ten, ten + 1), (ten + 1, ten + 2), (ten + 2, ten + 2.9))],
            [],
        ),
    ],
)
def test_a_minute_of_steps_is_what_is_judged(percents, spans, idle):
    watched = fed(heard(*percents), spans)
    assert watched.newly_idle() == idle
    assert watched.newly_idle() == []


def test_what_is_shown_is_of_the_last_half_minute():
    watched = fed(heard(*[0] * 50 + [90] * 30), STEP_BY_STEP[:80])
    assert watched.now() == [gpu_monitor.Use(90.0, 1000)]
    assert gpu_monitor.text(watched.now()) == "  GPU 90 % 1.0 GiB"
