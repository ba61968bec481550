"""What is wrong comes out of the container as sentences and an exit code, before anything starts."""

import pytest

pytestmark = pytest.mark.image


def test_all_wrong_settings_are_named_at_once_and_end_with_2(run):
    done = run(["train"], environment={"TRAINER": "clon", "BATCH_SIZE": "none", "NUMSTEPS": "5"})
    assert done.code == 2
    assert done.lines[0] == "3 settings are refused:"
    assert "did you mean clone?" in done.log and "did you mean NUM_STEPS?" in done.log


def test_no_gpu_ends_with_3_and_the_way_to_the_cpu(run):
    done = run(["train"])
    assert done.code == 3
    # What follows differs between a machine without a GPU and one that has it, but not in this container.
    assert done.lines[0].startswith("DEVICE=gpu, but no GPU is visible: ")
    assert len(done.lines) == 2 and "DEVICE=cpu" in done.lines[1]


def test_an_unknown_command_ends_with_2_and_the_commands(run):
    done = run(["trian"])
    assert done.code == 2 and "usage:" in done.log


def test_data_that_cannot_be_made_does_not_hide_why_training_ends(compose):
    """The service data fails too, but compose would show only its exit code."""
    up = compose.call("up", "--no-log-prefix", "train", clean=False, DATASET="petz", DEVICE="cpu")
    assert "DATASET=petz is neither pets nor mini-pets nor a folder." in up.log
    assert compose.ended("train").code == 2
