"""GPUs made up at NVML's boundary, the module pynvml: what is said of their use, and what of NVML's failures."""

import sys
import time

import pytest

from tests.tfod_train.devices.fake_nvml import Error
from tfod_train.devices import devices as device_choice
from tfod_train.devices import gpu_monitor

MIB = 2**20


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
