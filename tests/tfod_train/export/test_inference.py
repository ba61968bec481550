"""Models that find objects: what is loaded and what is refused; test_export.py compares trained ones."""

import numpy as np
import pytest

from common.errors import Refused

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]


@pytest.fixture
def frozen(tmp_path):
    """function(names left out, with_masks) -> path of a frozen graph that finds two boxes."""
    import tensorflow.compat.v1 as tf

    from tests.tfod_train.export import small_graphs

    def write(without=(), with_masks=False):
        with tf.Graph().as_default(), tf.Session() as session:
            outputs, _ = small_graphs.build(with_masks)
            session.run(tf.global_variables_initializer())
            names = [name for name in outputs if name not in without]
            definition = tf.graph_util.convert_variables_to_constants(session, session.graph_def, names)
        (tmp_path / "frozen.pb").write_bytes(definition.SerializeToString())
        return str(tmp_path / "frozen.pb")

    return write


def test_only_as_many_detections_as_there_are_are_taken(frozen):
    from tfod_train.export import inference

    found = inference.FrozenGraph(frozen()).detect(np.full((4, 6, 3), 51, np.uint8))
    assert found.scores == pytest.approx([0.2, 0.5]) and found.classes.tolist() == [3, 1]
    assert found.classes.dtype == int and found.masks is None
    assert inference.FrozenGraph(frozen(with_masks=True)).detect(np.zeros((2, 2, 3), np.uint8)).masks.shape == (2, 2, 2)


def test_what_is_no_detector_is_refused_by_name(frozen, tmp_path):
    from tfod_train.export import inference

    with pytest.raises(Refused, match="frozen.pb cannot be read as a frozen graph: it has no detection_scores"):
        inference.FrozenGraph(frozen(without=["detection_scores"]))
    (tmp_path / "torn.pb").write_bytes(b"\xff\xff")
    with pytest.raises(Refused, match="torn.pb cannot be read as a frozen graph: Error parsing") as refused:
        inference.FrozenGraph(str(tmp_path / "torn.pb"))
    assert refused.value.code == 2


@pytest.fixture
def saved(tmp_path):
    """A checkpoint of `layer` with its moving average, 1 and 2."""
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("layer", initializer=[1.0])
        tf.get_variable("layer/ExponentialMovingAverage", initializer=[2.0])
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model.ckpt"), write_meta_graph=False)


@pytest.mark.parametrize("averages, value, words", [(True, 2.0, "moving-average"), (False, 1.0, "raw")])
def test_the_weights_that_are_wanted_are_restored_and_named(saved, averages, value, words):
    import tensorflow.compat.v1 as tf

    from tfod_train.export import inference

    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.get_variable("layer", [1])
        assert inference.restore(session, saved, averages).startswith(words)
        assert session.run(layer) == [value]


@pytest.mark.parametrize("name, shape", [("layer", [3]), ("other", [1])])
def test_a_checkpoint_of_another_model_is_refused(saved, name, shape):
    import tensorflow.compat.v1 as tf

    from tfod_train.export import inference

    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable(name, shape)
        with pytest.raises(Refused, match=rf"of another model than the config: 1 of 1 variables .* \({name}\)"):
            inference.restore(session, saved, False)


def test_a_checkpoint_that_is_none_is_refused(tmp_path):
    import tensorflow.compat.v1 as tf

    from tfod_train.export import inference

    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("layer", [1])
        with pytest.raises(Refused, match="model.ckpt-9 cannot be read"):
            inference.restore(session, str(tmp_path / "model.ckpt-9"), False)


def test_masks_fill_their_boxes_in_the_image():
    from tfod_train.export import inference
    from tfod_train.export.compare import Detections

    boxes = np.array([[0, 0, 0.5, 0.5], [0.5, 0, 1, 1]], "f")
    masks = np.stack([np.ones((4, 4), "f"), np.zeros((4, 4), "f")])
    placed = inference.MasksInImage().place(Detections(boxes, None, None, masks), (8, 12))
    assert (placed.shape, placed.dtype) == ((2, 8, 12), np.uint8)
    assert placed[0, :4, :6].all() and placed[0].sum() == 24 and placed[1].sum() == 0
