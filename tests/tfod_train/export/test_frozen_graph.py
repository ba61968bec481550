"""What is written holds the chosen weights as constants; test_export.py exports a trained model."""

import contextlib
import os

import numpy as np
import pytest

from common.errors import Refused

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]

IMAGE = np.full((4, 6, 3), 51, np.uint8)


@pytest.fixture
def frozen_graph(monkeypatch):
    """The module, on the graph of small_graphs.py in place of the API's."""
    import tensorflow.compat.v1 as tf

    from tests.tfod_train.export import small_graphs
    from tfod_train.export import frozen_graph

    @contextlib.contextmanager
    def graph(config, checkpoint):
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            outputs, inputs = small_graphs.build(with_masks=True)
            session.run(tf.global_variables_initializer())
            session.run(tf.global_variables()[0].assign(0.25))
            yield session, outputs, inputs

    monkeypatch.setattr(frozen_graph, "_graph", graph)
    return frozen_graph


def test_graph_and_saved_model_detect_what_the_weights_do(frozen_graph, tmp_path):
    from tfod_train.export import inference

    frozen_graph.write(None, "model.ckpt-1", str(tmp_path), "frozen.pb", "saved")
    for model in (inference.FrozenGraph(str(tmp_path / "frozen.pb")), inference.SavedModel(str(tmp_path / "saved"))):
        found = model.detect(IMAGE)
        assert found.scores == pytest.approx([0.45, 0.5]) and found.classes.tolist() == [3, 1]
        assert found.boxes.tolist() == [[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0]]
        assert found.masks.shape == (2, 2, 2)


@pytest.fixture
def convert(frozen_graph, tmp_path, monkeypatch):
    """function(what the converter does) -> what write_tflite gives of it."""
    import tensorflow.compat.v1 as tf

    def write(then):
        def converted(config, checkpoint, path):
            assert tf.train.load_variable(checkpoint, "shift") == 0.25 and path == str(tmp_path / "model.tflite")
            return then()

        monkeypatch.setattr(frozen_graph.tflite, "write", converted)
        return frozen_graph.write_tflite(None, "model.ckpt-1", str(tmp_path / "model.tflite"))

    return write


def test_the_tflite_file_is_made_of_the_chosen_weights_and_nothing_else_stays(convert, tmp_path):
    assert convert(lambda: "input") == "input"
    assert os.listdir(str(tmp_path)) == []


def test_where_the_converter_cannot_nothing_stays_either(convert, tmp_path):
    def cannot():
        raise Refused("It cannot.", "Leave it out.")

    with pytest.raises(Refused):
        convert(cannot)
    assert os.listdir(str(tmp_path)) == []
