"""Patch: the clone trainer's session options and training loop can be chosen by its caller."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.add_parameters("session_config=None, train_fn=None", "train")
    file.guard_assignment("session_config", "session_config is None", inside="train")
    file.replace_expression("slim.learning.train", "(train_fn or slim.learning.train)", inside="train")


PATCH = Patch(
    name="clone_trainer_session",
    symptom=(
        "The clone trainer takes all GPU memory, runs four clones on one GPU without a word, and offers no "
        "checkpoint limit and no step hook."
    ),
    cause=(
        "`legacy/trainer.py` makes its own session options, with soft placement and without memory growth, and "
        "calls slim's training loop itself."
    ),
    cure=(
        "`trainer.train` takes `session_config`, used instead of its own, and `train_fn`, called with the same "
        "arguments instead of `slim.learning.train`. Our own loop is a `MonitoredTrainingSession` with the hooks "
        "that both trainers share (progress, stopping, divergence, checkpoints at the interval and limit of the "
        "settings)."
    ),
    proven_by=(
        "`test_the_clone_trainer_uses_the_session_and_the_loop_it_is_given`; "
        "`test_checkpoints_of_clones_have_the_names_of_one_device` and the clone runs of "
        "`tests/end_to_end/test_training.py` need it too."
    ),
    files=("object_detection/legacy/trainer.py",),
    transform=transform,
    reports=(
        "tensorflow/models#6047",
        "tensorflow/models#7983",
        "tensorflow/tensorflow#24496",
        "tensorflow/models#5076",
    ),
)
