"""Patch: the training input of the Estimator knows the workers and replicas it is made for."""

NAME = "input_context_in_training"
CURES = "every worker reads every record, and batch_size counts each replica's images"
WHY = (
    "train_input can divide the files among workers and the batch among replicas, given the strategy's input "
    "context. The input function made for the Estimator takes none, so every worker of a cluster reads "
    "everything and each replica gets batch_size images. It now takes input_context and passes it on; "
    "batch_size is then the batch of all replicas, as it is the batch of all clones in the other trainer."
)
REPORTS = ()
FILES = ("object_detection/inputs.py",)
ADDS = ()


def transform(path, file):
    """Edits object_detection/inputs.py."""
    file.add_parameters("input_context=None", "create_train_input_fn._train_input_fn")
    file.replace_expression(
        "train_input(train_config, train_input_config, model_config, params=params)",
        "train_input(train_config, train_input_config, model_config, params=params, input_context=input_context)",
        inside="create_train_input_fn._train_input_fn",
    )
