"""Patch: training under a distribution strategy no longer makes a Saver inside model_fn."""

NAME = "saver_under_strategy"
CURES = '"Method requires being in cross-replica context"; keep_checkpoint_max ignored'
WHY = (
    "model_fn makes a Saver of its own. Under a strategy model_fn runs once per replica, where a Saver "
    'cannot read distributed variables, so training stops with "Method requires being in cross-replica '
    "context\". On one device that Saver hides the limits in RunConfig. In training the Estimator's own "
    "Saver is right: it is made outside the replicas and keeps keep_checkpoint_max and "
    "keep_checkpoint_every_n_hours. Evaluation and export keep theirs, because the final export needs it."
)
REPORTS = ("tensorflow/models#5421", "tensorflow/tensorflow#30649", "tensorflow/models#5076", "tensorflow/models#7497")
FILES = ("object_detection/model_lib.py",)
ADDS = ()


def transform(path, file):
    """Edits object_detection/model_lib.py."""
    file.replace_expression(
        "scaffold is None",
        "scaffold is None and mode != tf.estimator.ModeKeys.TRAIN",
        inside="create_model_fn.model_fn",
    )
