"""Patch: the clone trainer's session options and training loop can be chosen by its caller."""

NAME = "clone_trainer_session"
CURES = "soft placement, memory growth, checkpoint limits and hooks out of reach of the caller"
WHY = (
    "The legacy trainer makes its own session options, with soft placement (four clones run on one GPU "
    "without a word) and without memory growth, and calls slim's training loop itself, so nobody can set "
    "checkpoint limits or step hooks. trainer.train takes two new keyword parameters: session_config, used "
    "instead of its own, and train_fn, called with the very same arguments instead of slim.learning.train."
)
REPORTS = ("tensorflow/models#6047", "tensorflow/models#7983", "tensorflow/tensorflow#24496", "tensorflow/models#5076")
FILES = ("object_detection/legacy/trainer.py",)
ADDS = ()


def transform(path, file):
    """Edits object_detection/legacy/trainer.py."""
    file.add_parameters("session_config=None, train_fn=None", "train")
    file.guard_assignment("session_config", "session_config is None", inside="train")
    file.replace_expression("slim.learning.train", "(train_fn or slim.learning.train)", inside="train")
