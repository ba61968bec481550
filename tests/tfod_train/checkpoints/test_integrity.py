"""What TensorFlow's saver writes, read without TensorFlow."""

import os

import pytest

from tfod_train.checkpoints import integrity


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A checkpoint of 300 variables and a vector of strings, in one shard (path), and their values by name."""
    import numpy
    import tensorflow.compat.v1 as tf

    folder = str(tmp_path_factory.mktemp("saved"))
    with tf.Graph().as_default(), tf.Session() as session:
        for number in range(300):
            tf.get_variable(f"layer_{number}/weights", initializer=numpy.full((number % 7 + 1, 3), number, "float32"))
        tf.get_variable("texts", initializer=["a", "bcd"])
        session.run(tf.global_variables_initializer())
        shapes = {variable.op.name: tuple(variable.shape.as_list()) for variable in tf.global_variables()}
        return tf.train.Saver(sharded=True).save(session, os.path.join(folder, "model.ckpt"), global_step=7), shapes


@pytest.mark.tensorflow
def test_every_variable_is_found_with_its_shape_and_place(saved):
    prefix, shapes = saved
    index = integrity.read_index(prefix)
    assert {entry.name: entry.shape for entry in index.entries} == shapes
    assert index.data_bytes == os.path.getsize(prefix + ".data-00000-of-00001")
    assert integrity.problem(prefix, values=True) is None


@pytest.mark.tensorflow
def test_any_flipped_byte_of_a_number_is_found_and_named(saved):
    prefix, _ = saved
    entry = next(one for one in integrity.read_index(prefix).entries if one.name == "layer_123/weights")
    with open(prefix + ".data-00000-of-00001", "r+b") as shard:
        shard.seek(entry.offset + 5)
        byte = shard.read(1)
        shard.seek(entry.offset + 5)
        shard.write(bytes((byte[0] ^ 4,)))
    try:
        assert integrity.problem(prefix, values=True) == "the checksum of layer_123/weights does not match"
        assert integrity.problem(prefix) is None  # the quick look does not read values
    finally:
        with open(prefix + ".data-00000-of-00001", "r+b") as shard:
            shard.seek(entry.offset + 5)
            shard.write(byte)
    assert integrity.problem(prefix, values=True) is None


@pytest.mark.tensorflow
def test_an_index_cut_off_anywhere_is_torn(saved, tmp_path):
    with open(saved[0] + ".index", "rb") as source:
        index = source.read()
    for length in list(range(0, len(index), 211)) + [len(index) - 1]:
        (tmp_path / "model.ckpt-1.index").write_bytes(index[:length])
        assert integrity.problem(str(tmp_path / "model.ckpt-1")), length
