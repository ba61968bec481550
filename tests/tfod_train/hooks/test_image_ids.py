"""The hashes of a step's images are kept beside the Estimator's graph."""

import sys
import types

import pytest

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def hash_key(monkeypatch):
    """The feature that the API's input function adds; the API itself, which takes seconds, is not imported."""
    package, inputs = types.ModuleType("object_detection"), types.ModuleType("object_detection.inputs")
    package.inputs, inputs.HASH_KEY = inputs, "hash"
    monkeypatch.setitem(sys.modules, "object_detection", package)
    monkeypatch.setitem(sys.modules, "object_detection.inputs", inputs)
    return inputs.HASH_KEY


def test_each_call_of_the_models_function_keeps_its_hashes_and_changes_nothing(hash_key):
    import tensorflow.compat.v1 as tf

    from tfod_train.hooks import image_ids

    given = []
    model_fn = image_ids.kept(lambda *arguments: given.append(arguments) or "spec")
    with tf.Graph().as_default():
        hashes = [tf.constant([number]) for number in (1, 2)]
        for each in hashes:
            assert model_fn({hash_key: each}, "labels", "train", {"a": 1}) == "spec"
        assert model_fn({}, "labels", "eval") == "spec"  # an input without ids
        assert image_ids.tensors() == hashes
    assert given[0] == ({hash_key: hashes[0]}, "labels", "train", {"a": 1})
    with tf.Graph().as_default():
        assert image_ids.tensors() == []
