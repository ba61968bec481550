"""GPUs, drivers and CUDA versions, all made up: what is said of each, and what to do."""

import pytest

from tfod_train.devices import gpus

CUDA_10 = (10, 0)
CUDA_12 = (12, 1)


def gpu(name, *capability):
    return gpus.Gpu("GPU-" + name, name, capability)


@pytest.mark.parametrize(
    "model, cuda, level, words",
    [
        (gpu("Tesla P100", 6, 0), CUDA_10, "ok", "CUDA 10.0 knows GPUs up to 7.5"),
        (gpu("Tesla V100", 7, 0), CUDA_10, "ok", "compute capability 7.0"),
        (gpu("Tesla T4", 7, 5), CUDA_10, "ok", "7.5"),
        (
            gpu("A100", 8, 0),
            CUDA_10,
            "error",
            "A100 (compute capability 8.0) is too new: CUDA 10.0 knows GPUs up to 7.5",
        ),
        (gpu("RTX 4090", 8, 9), CUDA_10, "error", "too new"),
        (gpu("H100", 9, 0), CUDA_10, "error", "too new"),
        (gpu("B200", 10, 0), CUDA_10, "error", "too new"),
        (gpu("A100", 8, 0), CUDA_12, "ok", "CUDA 12.1 knows GPUs up to 9.0"),
        (gpu("H100", 9, 0), CUDA_12, "warning", "nobody has shown"),
        (gpu("B200", 10, 0), CUDA_12, "error", "too new"),
        (gpu("A100", 8, 0), None, "warning", "not known which CUDA"),
        (gpu("Tesla V100", 7, 0), (9, 0), "warning", "not known which CUDA"),
    ],
)
def test_a_generation_is_held_against_the_cuda_of_the_image(model, cuda, level, words):
    found, text, do = gpus.generation(model, cuda)
    assert (found, words in text) == (level, True), text
    assert bool(do) == (level != "ok")


def test_an_ampere_gpu_is_sent_to_the_other_image_and_a_blackwell_one_is_not():
    assert "BASE_IMAGE=nvcr.io/nvidia/tensorflow:23.03-tf1-py3" in gpus.generation(gpu("A100", 8, 0), CUDA_10)[2]
    assert "No TensorFlow 1.15 image knows it" in gpus.generation(gpu("B200", 10, 0), CUDA_12)[2]


@pytest.mark.parametrize(
    "host, words",
    [
        (gpus.Host(), "this machine has no NVIDIA GPU"),
        (gpus.Host(hardware=True), "no driver is loaded"),
        (gpus.Host(hardware=True, kernel_driver=True), "libnvidia-ml.so.1 does not answer"),
        (gpus.Host(hardware=True, kernel_driver=True, in_container=True), "started without the NVIDIA runtime"),
        (gpus.Host(driver="470.57", hardware=True, kernel_driver=True), "lists no GPU"),
        (
            gpus.Host(hardware=True, kernel_driver=True, nvml_error="Driver/library version mismatch"),
            "different versions",
        ),
    ],
)
def test_what_is_missing_for_a_gpu_is_told_apart(host, words):
    what, do = gpus.why_no_gpu(host)
    assert words in what and do.endswith(".")


@pytest.mark.parametrize(
    "driver, cuda, fits",
    [
        ("410.48", CUDA_10, True),
        ("384.81", CUDA_10, False),
        ("470.57.02", CUDA_10, True),
        ("525.60.13", CUDA_12, False),
        ("535.104", CUDA_12, True),
        ("470.57", None, True),
        (None, CUDA_10, True),
    ],
)
def test_a_driver_too_old_for_the_cuda_is_told(driver, cuda, fits):
    assert (gpus.driver_fits(driver, cuda) is None) == fits


def test_missing_libraries_are_named():
    def load(name):
        if "cudnn" in name:
            raise OSError(name)

    assert gpus.missing_libraries(CUDA_10, load) == ["libcudnn.so.7"]
    assert gpus.missing_libraries(CUDA_12, load) == []  # their names are not known


@pytest.mark.parametrize("text, version", [("10", (10, 0)), ("10.0.130", (10, 0)), ("12.1", (12, 1)), ("", None)])
def test_versions_are_read_as_tensorflow_and_the_toolkit_write_them(text, version):
    assert gpus.parse_cuda(text) == version


def test_the_installed_tensorflow_is_asked_without_being_imported():
    assert gpus.cuda_of_tensorflow() == CUDA_10
