"""Writes a checkpoint as a frozen graph, a SavedModel and a TFLite file: the chosen weights become constants."""

import contextlib
import os
import shutil
import tempfile

import tensorflow.compat.v1 as tf
from object_detection import exporter
from object_detection.builders import model_builder

from tfod_train.export import inference, tflite


def write(config, checkpoint, folder, frozen, saved_model):
    """Writes the files `frozen` and `saved_model` (a folder) into folder; images go in as uint8 `image_tensor`.

    Args:
        config: TrainEvalPipelineConfig; eval_config.use_moving_averages says which weights are wanted.
        checkpoint: path without .index.
    """
    with _graph(config, checkpoint) as (session, outputs, inputs):
        definition = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), [tensor.op.name for tensor in outputs.values()]
        )
    with open(os.path.join(folder, frozen), "wb") as file:
        file.write(definition.SerializeToString())
    exporter.write_saved_model(os.path.join(folder, saved_model), definition, inputs, outputs)


def write_tflite(config, checkpoint, path):
    """Writes the TFLite file; returns its tfod_train.export.tflite.Input."""
    scratch = tempfile.mkdtemp(dir=os.path.dirname(path))
    try:
        with _graph(config, checkpoint) as (session, _, _):
            chosen = tf.train.Saver().save(session, os.path.join(scratch, "weights"), write_meta_graph=False)
        return tflite.write(config, chosen, path)
    finally:
        shutil.rmtree(scratch)


@contextlib.contextmanager
def _graph(config, checkpoint):
    """(session, outputs by name, inputs by name) of the API's inference graph with the chosen weights."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        model = model_builder.build(config.model, is_training=False)
        outputs, inputs = exporter.build_detection_graph(
            "image_tensor", model, None, None, lambda: inference.rewrite_quantised(config)
        )
        inference.restore(session, checkpoint, config.eval_config.use_moving_averages)
        yield session, outputs, inputs
