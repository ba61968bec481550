"""Devices asked = devices used, on faked lists of GPUs."""

import pytest

from common.errors import Refused
from tfod_train.devices import devices

FOUR = [(f"GPU-{index}0c6", "Tesla V100") for index in range(4)]


@pytest.mark.parametrize(
    "cuda_visible_devices, expected",
    [
        (None, ["0", "1", "2", "3"]),
        ("2,0", ["2", "0"]),
        ("GPU-10c6", ["GPU-10c6"]),
        ("-1", []),
        ("", []),
        ("0,7,1", ["0"]),
        ("1, 2", ["1", "2"]),
    ],
)
def test_visible_gpus_are_read_as_cuda_reads_them(cuda_visible_devices, expected):
    assert devices.visible(FOUR, cuda_visible_devices) == expected


def test_all_visible_gpus_are_used_unless_told_otherwise(read_settings):
    assert devices.choose(read_settings(), FOUR).names == ("/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3")


def test_the_write_up_trains_on_three_gpus_and_evaluates_on_the_fourth(read_settings):
    training = devices.choose(read_settings(CUDA_VISIBLE_DEVICES="0,1,2"), FOUR)
    evaluation = devices.for_evaluation(read_settings(CUDA_VISIBLE_DEVICES="3"), FOUR)
    assert (training.count, training.cuda_visible_devices) == (3, "0,1,2")
    assert (evaluation.count, evaluation.cuda_visible_devices) == (1, "3")


def test_only_the_gpus_asked_for_stay_visible(read_settings):
    chosen = devices.choose(read_settings(NUM_GPUS="2", CUDA_VISIBLE_DEVICES="3,1,0"), FOUR)
    assert (chosen.cuda_visible_devices, chosen.names) == ("3,1", ("/gpu:0", "/gpu:1"))


@pytest.mark.parametrize(
    "environ, gpus, sentence",
    [
        ({}, [], "DEVICE=gpu, but no GPU is visible."),
        (
            {"CUDA_VISIBLE_DEVICES": "MIG-GPU-1/0/0"},
            FOUR,
            "CUDA_VISIBLE_DEVICES=MIG-GPU-1/0/0 is a part of a GPU, as MIG makes them, and trainings use whole ones.",
        ),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, FOUR, "DEVICE=gpu, but no GPU is visible among CUDA_VISIBLE_DEVICES=-1."),
        ({"NUM_GPUS": "8"}, FOUR, "NUM_GPUS=8, but 4 GPUs are visible."),
        ({"NUM_GPUS": "2", "CUDA_VISIBLE_DEVICES": "1"}, FOUR, "NUM_GPUS=2, but 1 GPU is visible."),
    ],
)
def test_fewer_devices_than_asked_for_are_refused(environ, gpus, sentence, read_settings):
    with pytest.raises(Refused) as refused:
        devices.choose(read_settings(**environ), gpus)
    assert (refused.value.what, refused.value.code) == (sentence, 3)


@pytest.mark.parametrize("environ, count", [({}, 2), ({"NUM_GPUS": "4"}, 4)])
def test_cpu_devices_are_virtual_and_hide_every_gpu(environ, count, read_settings):
    chosen = devices.choose(read_settings(DEVICE="cpu", **environ), FOUR)
    assert (chosen.count, chosen.cuda_visible_devices) == (count, "-1")
    assert chosen.names[-1] == f"/cpu:{count - 1}"


@pytest.mark.tensorflow
def test_tensorflow_is_asked_whether_it_really_has_the_devices(read_settings):
    devices.check_session_devices(devices.choose(read_settings(DEVICE="cpu", NUM_GPUS="3"), []))
    with pytest.raises(Refused) as refused:
        devices.check_session_devices(devices.choose(read_settings(NUM_GPUS="4"), FOUR))
    assert refused.value.what == "4 GPU devices are asked for, but TensorFlow has 0."


@pytest.mark.tensorflow
def test_sessions_take_gpu_memory_as_they_need_it_and_have_the_devices_of_the_run(two_cpus):
    options = devices.session_config(two_cpus)
    assert options.gpu_options.allow_growth and options.device_count["CPU"] == 2
