"""Writes a checkpoint as a frozen graph, a SavedModel and a TFLite file: the chosen weights become constants."""

import contextlib
import os
import shutil
import tempfile
from typing import Any

import tensorflow.compat.v1 as tf
from object_detection import exporter
from object_detection.builders import model_builder

from tfod_train.export import inference, tflite


def write(config: Any, checkpoint: str, folder: str, frozen: str, saved_model: str) -> None:
    """Writes the files `frozen` and `saved_model` (a folder) into folder; images go in as uint8 `image_tensor`.

    Args:
        config: TrainEvalPipelineConfig; eval_config.use_moving_averages says which weights are wanted.
        checkpoint: path without .index.
        folder: where the files go.
        frozen, saved_model: their names in it.
    """
    with _graph(config, checkpoint) as (session, outputs, inputs):
        definition = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), [tensor.op.name for tensor in outputs.values()]
        )
    with open(os.path.join(folder, frozen), "wb") as file:
        file.write(definition.SerializeToString())
    exporter.write_saved_model(os.path.join(folder, saved_model), definition, inputs, outputs)


def write_tflite(config: Any, checkpoint: str, path: str) -> tflite.Input:
    """Writes the TFLite file; returns what it wants to see. Raises Refused where the converter cannot."""
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
