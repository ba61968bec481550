"""The clone trainer runs in the session and the loop of its caller."""

import pytest

from tests.object_detection_patches.patches.line_training import AVERAGE

pytestmark = pytest.mark.tensorflow


def test_the_clone_trainer_uses_the_session_and_the_loop_it_is_given(clones):
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["same_session"]
    assert {"saver", "number_of_steps", "init_fn", "summary_op", "is_chief"} <= set(clones["keywords"])


def test_checkpoints_of_clones_have_the_names_of_one_device(clones):
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["variables"] == [
        "global_step",
        "line/bias",
        "line/bias" + AVERAGE,
        "line/bias/Momentum",
        "line/weights",
        "line/weights" + AVERAGE,
        "line/weights/Momentum",
    ]
