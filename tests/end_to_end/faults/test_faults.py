"""What breaks a training from outside, for real: the exit code, the sentence, and what is left to resume."""

import glob
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from data_prep.tfrecord import codec, example_proto
from tfod_train.checkpoints import integrity

pytestmark = [pytest.mark.training, pytest.mark.long]
AT_ONCE_SECS = 30  # on a busy machine too; what does not stop at once hangs for ever here


@pytest.fixture
def images(mini, tmp_path):
    """A copy of mini-pets' records to spoil (str)."""
    folder = str(tmp_path / "mini-pets")
    shutil.copytree(str(mini), folder, ignore=shutil.ignore_patterns("raw"))
    return folder


def poison(folder):
    """Gives one image a box that reaches to infinity; returns its id."""
    shard = sorted(glob.glob(os.path.join(folder, "pet_faces_train*")))[3]
    payloads = list(codec.read(shard))
    example = example_proto.parse(payloads[4])
    for side in ("xmax", "ymax"):
        example.features.feature["image/object/bbox/" + side].float_list.value[0] = float("inf")
    payloads[4] = example.SerializeToString()
    with codec.Writer(shard) as writer:
        for payload in payloads:
            writer.write(payload)
    return example.features.feature["image/source_id"].bytes_list.value[0].decode()


# test_broken_weights.py has the clone trainer where it diverges.
@pytest.mark.parametrize("trainer", ["mirrored", "clone"])
def test_a_poisoned_record_ends_with_4_its_image_named_and_the_last_good_checkpoint_kept(
    trainer, start, images, tmp_path, tiny_config
):
    image = poison(images)
    diverged = start(
        tmp_path / "run",
        {},
        TRAINER=trainer,
        DATASET=images,
        CHECKPOINT_EVERY_STEPS="1",
        PIPELINE_CONFIG=tiny_config(("data_augmentation_options { ssd_random_crop {} }", "")),
    )
    assert diverged.code == 4, diverged.console
    step = int(re.search(r"diverged: the loss at step (\d+) is inf", diverged.console).group(1))
    named = re.search(rf"Images of step {step}: (.*)\.\n", diverged.console).group(1).split(", ")
    assert len(named) == 8 and image in named
    newest = os.path.join(diverged.folder, f"model.ckpt-{step - 1}") if step > 1 else "not there"
    assert f"the newest checkpoint is {newest}" in diverged.console
    assert step not in diverged.checkpoints
    assert (diverged.manifest()["outcome"], diverged.manifest()["exit_code"]) == ("diverged", 4)


def block_the_input(folder):
    """Puts pipes, which nobody ever writes to, in the place of the training records."""
    for shard in glob.glob(os.path.join(folder, "pet_faces_train*")):
        os.remove(shard)
        os.mkfifo(shard)


def processes_of(run_dir):
    """Process ids of the training in a folder and of its parameter servers."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as source:
                found += [int(pid)] if (f"RUN_DIR={run_dir}").encode() in source.read().split(b"\0") else []
        except OSError:
            pass  # it has just ended
    return found


def test_a_blocked_input_ends_with_5_and_the_stacks_of_all_threads(start, images, tmp_path):
    at_work = []

    def block(process):
        at_work.extend(processes_of(tmp_path / "run"))
        block_the_input(images)

    # Three times as long is what the first step may take, TensorFlow's import and the graph included.
    stalled = start(
        tmp_path / "run", {"First step": block}, TRAINER="clone", DATASET=images, STALL_SECS="30", PS_TASKS="1"
    )
    assert stalled.code == 5, stalled.console
    assert re.search(r"^No step for 3\d s; the last one was \d+\.$", stalled.console, re.MULTILINE)
    assert "STALL_SECS waits longer" in stalled.lines[-1]
    with open(os.path.join(stalled.folder, "train.log"), errors="replace") as log:
        stacks = log.read()
    assert "Thread 0x" in stacks and "in run" in stacks
    assert stalled.manifest()["outcome"] == "stalled"
    assert len(at_work) == 2
    until = time.time() + AT_ONCE_SECS
    while processes_of(tmp_path / "run") and time.time() < until:
        time.sleep(0.05)
    assert processes_of(tmp_path / "run") == []


def wait_until_it_hangs(run_dir):
    """Returns when what was read ahead is used up: no step, each of which is saved, for longer than one takes."""
    seen, since = None, time.time()
    while time.time() - since < 5:
        now = integrity.steps(str(run_dir))
        if now != seen:
            seen, since = now, time.time()
        time.sleep(0.1)


def test_a_second_ctrl_c_stops_even_a_step_that_hangs(start, images, tmp_path):
    stopped_at = []

    def interrupt_twice(process):
        block_the_input(images)
        wait_until_it_hangs(tmp_path / "run")
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        assert process.poll() is None
        stopped_at.append(time.time())
        process.send_signal(signal.SIGINT)

    stopped = start(tmp_path / "run", {"First step": interrupt_twice}, DATASET=images, CHECKPOINT_EVERY_STEPS="1")
    assert time.time() - stopped_at[0] < AT_ONCE_SECS
    assert stopped.code == 130, stopped.console
    assert stopped.lines[-2:] == ["Stopping after this step and saving; once more stops at once.", "Stopped at once."]
    assert stopped.manifest()["outcome"] == "stopped"


def test_a_training_in_its_first_minute_keeps_others_out_and_stops_at_once(start, tiny, tmp_path):
    refused = []

    def start_another_and_interrupt(process):
        # It stays in its first minute however long the other one takes.
        process.send_signal(signal.SIGSTOP)
        refused.append(tiny("train", tmp_path / "run"))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)

    stopped = start(tmp_path / "run", {"Building": start_another_and_interrupt})
    assert (refused[0].code, "Another training is running in" in refused[0].console) == (3, True)
    assert stopped.code == 130, stopped.console
    assert stopped.lines[-1] == "Stopped at once: nothing was saved."


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 90 MB (str)."""
    folder = str(tmp_path / "disk")
    os.mkdir(folder)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=90m", "tmpfs", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stdout.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk, run_dir, leave):
    """Leaves so many bytes free, after two checkpoints."""
    until = time.time() + 60
    while len(glob.glob(os.path.join(run_dir, "model.ckpt-*.index"))) < 2 and time.time() < until:
        time.sleep(0.05)
    with open(os.path.join(disk, "filler"), "wb", buffering=0) as filler:
        try:
            while shutil.disk_usage(disk).free > leave:
                filler.write(b"x" * 65536)
        except OSError:
            pass


@pytest.fixture
def full_disk(start, small_disk):
    """function(leave, **settings) -> the Run of a training that met a full disk, which has room again."""

    def run(leave, **settings):
        run_dir = os.path.join(small_disk, "run")
        full = start(
            run_dir,
            {"First step": lambda process: fill(small_disk, run_dir, leave)},
            # None is removed: that would make room again.
            CHECKPOINT_EVERY_STEPS="5",
            KEEP_CHECKPOINTS="200",
            **settings,
        )
        os.remove(os.path.join(small_disk, "filler"))
        return full

    return run


def ended_on_a_full_disk(full):
    assert full.code == 3, full.console
    assert full.lines[-2].startswith("The disk is full")
    assert full.lines[-1].startswith("Free some space and run the same command again")
    assert [name for name in os.listdir(full.folder) if "temp" in name or "tmp" in name] == []
    assert len(full.checkpoints) >= 2


def test_a_full_disk_is_noticed_before_a_save_and_a_torn_checkpoint_leaves_the_one_before(full_disk, tiny_training):
    full = full_disk(4 * 2**20, TRAINER="mirrored")
    ended_on_a_full_disk(full)
    assert "the checkpoint of step" in full.lines[-2]
    before, newest = full.checkpoints[-2:]
    (shard,) = glob.glob(os.path.join(full.folder, f"model.ckpt-{newest}.data-*"))
    with open(shard, "wb"):
        pass
    again = tiny_training(full.folder, NUM_STEPS=str(newest + 3), TRAINER="clone")
    assert again.code == 0, again.console
    assert "has 0 of" in again.console and "the one before it is taken" in again.console
    assert f"Resuming from step {before} to {newest + 3}." in again.lines
    assert again.manifest()["step"] == again.checkpoints[-1] == newest + 3


RATE, DECAY, AVERAGE = 0.01, 0.9, "/ExponentialMovingAverage"  # as in tiny_ssd.config


def test_a_save_that_finds_the_disk_full_leaves_what_was_saved_before_and_the_run_goes_on_as_if_nothing_was(
    full_disk, tiny_training, tiny_config
):
    config = tiny_config(
        (
            "constant_learning_rate { learning_rate: 0.01 }",
            "exponential_decay_learning_rate { "
            "initial_learning_rate: 0.01 decay_steps: 1 decay_factor: 0.99 staircase: false }",
        )
    )
    full = full_disk(0, TRAINER="clone", SPOIL="free space", PIPELINE_CONFIG=config)
    ended_on_a_full_disk(full)
    newest = full.checkpoints[-1]
    written = set(os.listdir(full.folder))
    again = tiny_training(full.folder, NUM_STEPS=str(newest + 3), CHECKPOINT_EVERY_STEPS="1", PIPELINE_CONFIG=config)
    assert again.code == 0, again.console
    assert f"Resuming from step {newest} to {newest + 3}." in again.lines
    assert again.manifest()["step"] == again.checkpoints[-1] == newest + 3
    (events,) = [name for name in set(os.listdir(full.folder)) - written if name.startswith("events")]
    step, rate = first_learning_rate(os.path.join(full.folder, events))
    assert newest < step <= newest + 2
    assert any(rate == pytest.approx(RATE * 0.99**one, rel=1e-4) for one in (step - 1, step))
    before, after = (values(os.path.join(full.folder, f"model.ckpt-{one}")) for one in (newest, newest + 1))
    averages = [name for name in before if name.endswith(AVERAGE)]
    assert len(averages) > 3
    for name in averages:
        expected = DECAY * before[name] + (1 - DECAY) * after[name[: -len(AVERAGE)]]
        assert after[name] == pytest.approx(expected, abs=1e-6), name


def values(checkpoint):
    """The values of a checkpoint by name."""
    import tensorflow.compat.v1 as tf

    reader = tf.train.NewCheckpointReader(checkpoint)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def first_learning_rate(path):
    """(step, rate) of the first learning rate in an event file."""
    import tensorflow.compat.v1 as tf

    return next(
        (event.step, value.simple_value)
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
        if "learning_rate" in value.tag
    )
