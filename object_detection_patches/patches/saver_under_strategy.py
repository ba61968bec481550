"""Patch: training under a distribution strategy no longer makes a Saver inside model_fn."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.replace_expression(
        "scaffold is None",
        "scaffold is None and mode != tf.estimator.ModeKeys.TRAIN",
        inside="create_model_fn.model_fn",
    )


PATCH = Patch(
    name="saver_under_strategy",
    symptom=(
        'Training under MirroredStrategy stops with "Method requires being in cross-replica context"; on one '
        "device `keep_checkpoint_max` is ignored and the disk fills."
    ),
    cause=(
        "`model_lib`'s `model_fn` makes a `tf.train.Saver`. A strategy calls `model_fn` once per replica, where a "
        "Saver cannot read variables whose replicas differ (batch norm's statistics), and a Saver in the Scaffold "
        "replaces the Estimator's, which knows the limits of `RunConfig`."
    ),
    cure=(
        "In training no Saver is made: the Estimator's is made outside the replicas and keeps "
        "`keep_checkpoint_max` and `keep_checkpoint_every_n_hours`. Evaluation and export keep theirs, because the "
        "final export needs it."
    ),
    proven_by=(
        "`test_training_evaluation_and_export_work_under_a_strategy` and "
        "`test_only_as_many_checkpoints_are_kept_as_run_config_says`."
    ),
    files=("object_detection/model_lib.py",),
    transform=transform,
    reports=(
        "tensorflow/models#5421",
        "tensorflow/tensorflow#30649",
        "tensorflow/models#5076",
        "tensorflow/models#7497",
    ),
)
