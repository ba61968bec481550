"""Which images a step was made of, for the step at which a loss is not finite any more.

The clone trainer's graph has the records' source ids. The Estimator's has a hash of each, which the API's input
function adds to the features; tfod_train/observers/image_names.py finds the id again among the training records.
"""

from typing import Any, Callable, List

import tensorflow.compat.v1 as tf

COLLECTION = "image_ids"  # as in the patch image_ids_of_clones


def kept(model_fn: Callable[..., Any]) -> Callable[..., Any]:
    """An Estimator's model_fn(features, labels, mode, params) that puts its images' hashes into COLLECTION."""
    from object_detection import inputs

    def model_fn_with_ids(features: Any, labels: Any, mode: Any, params: Any = None) -> Any:
        if inputs.HASH_KEY in features:
            tf.add_to_collection(COLLECTION, features[inputs.HASH_KEY])
        return model_fn(features, labels, mode, params)

    return model_fn_with_ids


def tensors() -> List[Any]:
    """The ids' tensors of the default graph, one for each replica or clone."""
    return tf.get_collection(COLLECTION)
