"""The environment contract: what is read, what is refused, and in which words."""

import os
import subprocess
import sys

import pytest

from tfod_train import settings


def errors_of(**environ):
    with pytest.raises(settings.SettingsRefused) as refused:
        settings.read(environ)
    assert refused.value.code == 2
    return refused.value.errors


def test_nothing_set_is_the_documented_default():
    read = settings.read({})
    assert (read.trainer.value, read.device.value, read.num_gpus) == ("mirrored", "gpu", None)
    assert (read.keep_checkpoints, read.eval_at_end, read.all_reduce.value, read.all_reduce_packs) == (
        5,
        True,
        "hierarchical_copy",
        1,
    )


def test_an_empty_value_counts_as_not_set():
    assert settings.read({"TRAINER": "", "NUM_STEPS": " "}) == settings.read({})


def test_all_errors_are_told_at_once():
    errors = errors_of(TRAINER="clon", BATCH_SIZE="0", NUM_GPUS="two", TRAINNER="clone", EVAL_AT_END="maybe")
    assert errors == [
        "TRAINNER=clone: there is no such setting; did you mean TRAINER?",
        "TRAINER=clon: choose one of mirrored, clone; did you mean clone?",
        "NUM_GPUS=two: must be a whole number.",
        "BATCH_SIZE=0: must be 1 or more.",
        "EVAL_AT_END=maybe: must be 0 or 1.",
    ]


@pytest.mark.parametrize(
    "name, meant",
    [
        ("NUM_GPU", "NUM_GPUS"),
        ("BATCHSIZE", "BATCH_SIZE"),
        ("PIPELINE_CONFG", "PIPELINE_CONFIG"),
        ("run_dir", "RUN_DIR"),
        ("TRAIN_GPU", "TRAIN_GPUS"),
        ("DEVICES", "DEVICE"),
        ("XLAA", None),
        ("LOGNAME", None),
        ("PATH", None),
        ("CUDA_DEVICE_ORDER", None),
        ("DATABASE_URL", None),
        ("RUNNER_DIR", None),
        ("HOSTNAME", None),
    ],
)
def test_a_near_miss_is_named_with_the_setting_it_was_meant_for(name, meant):
    if meant is None:
        settings.read({name: "1"})
    else:
        assert errors_of(**{name: "1"}) == [f"{name}=1: there is no such setting; did you mean {meant}?"]


def test_a_name_of_another_tool_is_answered_with_ours():
    assert errors_of(EPOCHS="3") == [
        "EPOCHS=3: there is no such setting; set NUM_STEPS: epochs times images, divided by BATCH_SIZE."
    ]
    settings.read({"LR": "0.1"})  # a shell may have it for other reasons


@pytest.mark.parametrize(
    "environ, sentence",
    [
        (
            {"BATCH_SIZE": "8", "BATCH_SIZE_PER_GPU": "4"},
            "BATCH_SIZE and BATCH_SIZE_PER_GPU are both set: set one of them.",
        ),
        (
            {"CHECKPOINT_EVERY_STEPS": "8", "CHECKPOINT_EVERY_SECS": "4"},
            "CHECKPOINT_EVERY_STEPS and CHECKPOINT_EVERY_SECS are both set: set one of them.",
        ),
        (
            {"TRAINER": "clone", "ALL_REDUCE": "nccl"},
            "ALL_REDUCE=nccl has no meaning with TRAINER=clone: set TRAINER=mirrored, or leave it out.",
        ),
        (
            {"TRAINER": "clone", "SEED": "0", "PS_TASKS": "1"},
            "SEED=0 with PS_TASKS=1: nobody has shown that such runs repeat; leave one of them out.",
        ),
        ({"SEED": "2147483648"}, "SEED=2147483648: must be 2147483647 or less."),
        (
            {"LEARNING_RATE": "0.1", "LEARNING_RATE_SCALING": "linear"},
            "LEARNING_RATE=0.1 with LEARNING_RATE_SCALING=linear: the one says the rate, the other makes it of the "
            "config's; set one of them.",
        ),
        ({"LEARNING_RATE": "0"}, "LEARNING_RATE=0: must be more than 0."),
        ({"LEARNING_RATE": "1e-3x"}, "LEARNING_RATE=1e-3x: must be a number."),
        ({"LEARNING_RATE": "inf"}, "LEARNING_RATE=inf: is a number above 0, for example 0.004."),
        (
            {"IMAGE_SIZE": "320x"},
            "IMAGE_SIZE=320x: is a side in px from 32 to 8192, or WIDTHxHEIGHT, for example 320 or 640x480.",
        ),
        (
            {"IMAGE_SIZE": "16"},
            "IMAGE_SIZE=16: is a side in px from 32 to 8192, or WIDTHxHEIGHT, for example 320 or 640x480.",
        ),
        (
            {"TFOD_IMAGE_ID": "tfod-train"},
            "TFOD_IMAGE_ID=tfod-train: is no image's id as Docker writes it (sha256:...); "
            "`make` sets it, so leave it out.",
        ),
        (
            {"CUDA_VISIBLE_DEVICES": "0,,1"},
            "CUDA_VISIBLE_DEVICES=0,,1: is a comma-separated list of GPUs, for example 0,1.",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(environ, sentence):
    assert errors_of(**environ) == [sentence]


@pytest.mark.parametrize("name", sorted(settings.NOT_SUPPORTED))
def test_what_this_version_cannot_do_is_refused_and_not_ignored(name):
    assert "not supported by this version" in errors_of(**{name: "7"})[0]
    neutral = settings.NOT_SUPPORTED[name][0]
    settings.read({name: neutral})


def test_settings_cannot_be_changed_after_they_are_read():
    with pytest.raises(TypeError):
        settings.read({}).trainer = "clone"


@pytest.mark.parametrize(
    "generated, path", [(settings.env_example, ".env.example"), (settings.markdown, "docs/settings.md")]
)
def test_generated_files_are_up_to_date(generated, path, project_dir):
    with open(os.path.join(project_dir, path), encoding="utf-8") as committed:
        assert committed.read() == generated()


def test_setting_errors_come_in_under_a_second_and_without_tensorflow(project_dir, cpu_secs):
    before = cpu_secs()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "entrypoint.py", "train"],
        cwd=project_dir,
        env=dict(os.environ, TRAINER="clon"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 2
    assert b"did you mean clone?" in done.stderr
    assert b"tensorflow" not in done.stderr
    assert cpu_secs() - before < 1


@pytest.mark.parametrize("trainer", ["mirrored", ""])
def test_parameter_servers_are_refused_with_the_mirrored_trainer(trainer):
    with pytest.raises(settings.SettingsRefused) as refused:
        settings.read({"PS_TASKS": "2", "TRAINER": trainer})
    assert refused.value.errors == [
        "PS_TASKS=2 has no meaning with TRAINER=mirrored: set TRAINER=clone, or leave it out."
    ]
    assert settings.read({"PS_TASKS": "0", "TRAINER": trainer}).ps_tasks == 0
    assert settings.read({"PS_TASKS": "2", "TRAINER": "clone"}).ps_tasks == 2


@pytest.mark.parametrize("mode", ["continuous", "until_step"])
def test_a_test_split_is_no_help_in_choosing(mode):
    (error,) = errors_of(SPLIT="test", EVAL_MODE=mode)
    assert error.startswith(f"SPLIT=test with EVAL_MODE={mode}: a test split judges")
    assert settings.read({"SPLIT": "test", "EVAL_MODE": "once"}).split.value == "test"
    assert errors_of(SPLIT="tset") == ["SPLIT=tset: choose one of val, test; did you mean test?"]
