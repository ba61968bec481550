"""A step whose loss is finite and whose update is not: the checkpoint saved after it is not the last good one."""

import os

import pytest

pytestmark = [pytest.mark.training, pytest.mark.long]

CONSTANT = "constant_learning_rate { learning_rate: 0.01 }"
CLASSES = "classification_loss { weighted_sigmoid {} }"


def from_step(step):
    """Changes of the config: a learning rate that makes the weights infinite with the update after so many steps.

    Up to there nothing moves. The weight of the loss makes the gradient so steep that it does not matter of which
    size chance made the model's weights.
    """
    return (
        (
            CONSTANT,
            (
                f"manual_step_learning_rate {{ initial_learning_rate: 1e-12 schedule {{ step: {step} learning_rate: "
                "3e38 } }"
            ),
        ),
        (CLASSES, CLASSES + " classification_weight: 1e3"),
    )


def test_a_checkpoint_of_infinite_weights_is_set_aside_and_the_one_before_named(start, tiny_config, tmp_path):
    run = start(
        tmp_path / "run", {}, TRAINER="clone", CHECKPOINT_EVERY_STEPS="1", PIPELINE_CONFIG=tiny_config(*from_step(3))
    )
    assert run.code == 4, run.console
    aside = [name for name in os.listdir(run.folder) if name.startswith("diverged-") and name.endswith(".index")]
    good = run.checkpoints[-1]
    assert aside == [f"diverged-model.ckpt-{good + 1}.index"]
    broken, kept = (os.path.join(run.folder, f"model.ckpt-{step}") for step in (good + 1, good))
    assert f"Checkpoint {broken} holds weights that are not finite (" in run.console
    assert run.lines[-1].endswith(f"the newest checkpoint is {kept}.")
    assert run.manifest()["outcome"] == "diverged"


def test_a_last_step_that_breaks_the_weights_is_no_success(start, tiny_config, tmp_path):
    run = start(
        tmp_path / "run", {}, NUM_STEPS="4", CHECKPOINT_EVERY_STEPS="1", PIPELINE_CONFIG=tiny_config(*from_step(3))
    )
    assert run.code == 4, run.console
    assert "Training diverged: the last step left weights that are not finite" in run.lines[-2]
    assert run.checkpoints == [1, 2, 3]
