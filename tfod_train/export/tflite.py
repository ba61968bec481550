"""The TFLite file of an SSD: which models have one, how its input is normalised, and its conversion."""

import os
import shlex
import sys
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf
from object_detection import export_tflite_ssd_graph_lib
from object_detection.builders import model_builder

from common.errors import FAILED, Refused

INPUT = "normalized_input_image_tensor"
POSTPROCESS = "TFLite_Detection_PostProcess"
OUTPUTS = [POSTPROCESS] + [f"{POSTPROCESS}:{number}" for number in range(1, 4)]


class Input(NamedTuple):
    """What the file wants to see: `shape` [1, height, width, 3] of `dtype`.

    A float input is pixel * scale + offset, channel by channel (R, G, B); a uint8 input is the pixel itself.
    """

    shape: List[int]
    dtype: str
    scale: List[float]
    offset: List[float]


def obstacle(config: Any) -> Optional[str]:
    """Why the model of a config has no TFLite file, as half a sentence; None where it has one."""
    if config.model.WhichOneof("model") != "ssd":
        return "only SSD models have one"
    ssd = config.model.ssd
    if ssd.image_resizer.WhichOneof("image_resizer_oneof") != "fixed_shape_resizer":
        return "its input has one size, and the config has no fixed_shape_resizer"
    if ssd.box_coder.WhichOneof("box_coder_oneof") != "faster_rcnn_box_coder":
        return "its post-processing knows the faster_rcnn_box_coder alone"
    if ssd.post_processing.batch_non_max_suppression.soft_nms_sigma > 0:
        return "its post-processing knows no soft non-maximum suppression"
    if config.HasField("graph_rewriter") and len(set(zip(*normalisation(config)))) > 1:
        return "a uint8 input has one scale, and this model scales its channels differently"
    return None


def normalisation(config: Any) -> Tuple[List[float], List[float]]:
    """(scale, offset) of each channel: the model sees pixel * scale + offset. Found with images of one colour.

    Raises:
        Refused: what it does to a pixel is more than that.
    """
    resizer = config.model.ssd.image_resizer.fixed_shape_resizer
    with tf.Graph().as_default(), tf.Session() as session:
        model = model_builder.build(config.model, is_training=False)
        pixels = tf.placeholder(tf.float32, [1, resizer.height, resizer.width, 3])
        seen = model.preprocess(pixels)[0]
        black, grey, white = [
            session.run(seen, {pixels: np.full(pixels.shape.as_list(), value, "f")})[0, 0, 0].astype(float)
            for value in (0, 100, 255)
        ]
    scale = (white - black) / 255
    if np.abs(black + 100 * scale - grey).max() > 1e-4:
        raise Refused(
            f"The input of {config.model.ssd.feature_extractor.type} is not normalised linearly, so no TFLite "
            "file can be made.",
            "Export with --no-tflite.",
        )
    return [float(f"{value:.7g}") for value in scale], [float(f"{value:.7g}") for value in black]


def write(config: Any, checkpoint: str, path: str) -> Input:
    """Writes the TFLite file of a checkpoint that holds the weights to take under their raw names.

    Float, or uint8 where the config trains quantised. Suppression is the model's own, class by class (the API's
    exporter has a faster one by default, which keeps one class a place).

    Args:
        config: TrainEvalPipelineConfig of an SSD without an `obstacle`.
        checkpoint: path without .index; other files are written beside path meanwhile.
        path: of the TFLite file.

    Returns:
        what the file wants to see.

    Raises:
        Refused: the converter cannot.
    """
    config = _copy(config)
    config.eval_config.use_moving_averages = False
    suppression = config.model.ssd.post_processing.batch_non_max_suppression
    folder = os.path.dirname(path)
    graph = os.path.join(folder, "tflite_graph.pb")
    with tf.Graph().as_default():
        export_tflite_ssd_graph_lib.export_tflite_graph(
            config,
            checkpoint,
            folder,
            True,
            suppression.max_total_detections,
            1,
            suppression.max_detections_per_class,
            not suppression.use_class_agnostic_nms,
        )
    resizer = config.model.ssd.image_resizer.fixed_shape_resizer
    shape = [1, resizer.height, resizer.width, 3]
    scale, offset = normalisation(config)
    quantised = config.HasField("graph_rewriter")
    with open(path, "wb") as file:
        file.write(_convert(graph, shape, scale[0], offset[0], quantised))
    for name in ("tflite_graph.pb", "tflite_graph.pbtxt"):
        os.unlink(os.path.join(folder, name))
    return Input(shape, "uint8" if quantised else "float32", scale, offset)


def _convert(graph, shape, scale, offset, quantised):
    from tensorflow.lite.python import convert

    # As installed it is a script, found on PATH only where the environment is activated.
    main = "'from tensorflow.lite.toco.python.toco_from_protos import main; main()'"
    convert._toco_from_proto_bin = (  # pylint: disable=protected-access; TensorFlow is pinned
        f"{shlex.quote(sys.executable)} -c {main}"
    )
    converter = tf.lite.TFLiteConverter.from_frozen_graph(graph, [INPUT], OUTPUTS, {INPUT: shape})
    converter.allow_custom_ops = True
    if quantised:
        converter.inference_type = tf.uint8
        # (mean, deviation): the model sees (pixel - mean) / deviation. The zero point is a whole number.
        converter.quantized_input_stats = {INPUT: (round(-offset / scale), 1 / scale)}
    try:
        return converter.convert()
    except convert.ConverterError as error:
        raise Refused(
            f"TensorFlow's converter cannot make a TFLite file of this model: {_reason(str(error))}.",
            "Export with --no-tflite; the log has all that it says.",
            FAILED,
        ) from error


def _reason(text):
    lines = [line.strip() for line in text.splitlines() if "Exception" in line or "rror" in line or ": F " in line]
    return (lines[-1] if lines else text.strip().splitlines()[-1])[-300:].rstrip(".")


def _copy(config):
    copy = type(config)()
    copy.CopyFrom(config)
    return copy
