"""SEED in TensorFlow itself."""

import os

import pytest

from tfod_train.trainers import seed


def test_kernels_are_asked_to_be_deterministic(monkeypatch):
    for name in seed.DETERMINISTIC_KERNELS:
        monkeypatch.setenv(name, "0")
    seed.choose_deterministic_kernels()
    assert [os.environ[name] for name in seed.DETERMINISTIC_KERNELS] == ["1", "1"]


def test_without_a_seed_the_input_function_stays_as_it_is():
    assert seed.seeded(len, None) is len


@pytest.mark.tensorflow
@pytest.mark.parametrize("number", [0, 7])
def test_the_graph_is_seeded_before_anything_is_built_in_it(number):
    import tensorflow.compat.v1 as tf

    seen = []
    with tf.Graph().as_default() as graph:
        assert seed.seeded(lambda: seen.append(graph.seed) or "input", number)() == "input"
    assert seen == [number]
