"""Models that find objects in one image: a checkpoint of a run, and each of the files that an export is made of.

All of them give tfod_train.export.compare.Detections, with masks where the model has them.
"""

from typing import Any, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf
from object_detection import eval_util, inputs
from object_detection.builders import graph_rewriter_builder, model_builder
from object_detection.core import standard_fields as fields
from object_detection.data_decoders import tf_example_decoder

from common.errors import Refused
from tfod_train.checkpoints import weights
from tfod_train.export.compare import Detections

OUTPUTS = tuple(
    getattr(fields.DetectionResultFields, name)
    for name in ("num_detections", "detection_boxes", "detection_scores", "detection_classes")
)
MASKS = fields.DetectionResultFields.detection_masks
INPUT = "image_tensor:0"
MISSING_SHOWN = 3


def restore(session: Any, checkpoint: str, averages_wanted: bool) -> str:
    """Restores a checkpoint into the session's graph, the default one.

    Args:
        session: tf.Session.
        checkpoint: path without .index.
        averages_wanted: take the moving averages where the checkpoint has them.

    Returns:
        which weights were taken, for people (tfod_train/checkpoints/weights.py).

    Raises:
        Refused: the checkpoint is unreadable, or of another model.
    """
    try:
        shapes = dict(tf.train.list_variables(checkpoint))
        chosen = weights.of_graph(checkpoint, averages_wanted)
        wrong = sorted(
            name for name, variable in chosen.restore.items() if shapes.get(name) != variable.shape.as_list()
        )
        if wrong:
            shown = ", ".join(wrong[:MISSING_SHOWN]) + (", ..." if len(wrong) > MISSING_SHOWN else "")
            raise Refused(
                f"Checkpoint {checkpoint} is of another model than the config: {len(wrong)} of "
                f"{len(chosen.restore)} variables are not in it or have another shape ({shown}).",
                "Name a checkpoint of this run, or set RUN_DIR to the run that it belongs to.",
            )
        tf.train.Saver(chosen.restore).restore(session, checkpoint)
    except (tf.errors.OpError, ValueError) as error:
        raise Refused(
            f"Checkpoint {checkpoint} cannot be read: {str(error).splitlines()[0].rstrip('.')}.", "Take another one."
        ) from error
    return chosen.words


def rewrite_quantised(config: Any) -> None:
    """Adds to the default graph what quantised training had, where the config trains quantised."""
    if config.HasField("graph_rewriter"):
        graph_rewriter_builder.build(config.graph_rewriter, is_training=False)()


class Checkpoint(object):
    """A checkpoint under the API's input function for predictions, which decodes records as an evaluation does.

    Args:
        config: TrainEvalPipelineConfig.
        checkpoint: path without .index.
        averages_wanted: take the moving averages where the checkpoint has them.

    Raises:
        Refused: the checkpoint is unreadable, or of another model.
    """

    def __init__(self, config: Any, checkpoint: str, averages_wanted: bool):
        with tf.Graph().as_default() as graph:
            receiver = inputs.create_predict_input_fn(config.model, config.eval_input_reader[0])()
            (self._record,) = receiver.receiver_tensors.values()
            self._seen = receiver.features[fields.InputDataFields.image]
            shapes = receiver.features[fields.InputDataFields.true_image_shape]
            decoded = tf_example_decoder.TfExampleDecoder().decode(self._record)
            self._decoded = decoded[fields.InputDataFields.image]
            model = model_builder.build(config.model, is_training=False)
            found = model.postprocess(model.predict(self._seen, shapes), shapes)
            self._found = {name: found[name] for name in OUTPUTS + (MASKS,) if name in found}
            tf.train.get_or_create_global_step()
            rewrite_quantised(config)
            self._session = tf.Session(graph=graph)
            self.weights = restore(self._session, checkpoint, averages_wanted)
            self._session.run(tf.tables_initializer())

    def image(self, record: bytes) -> np.ndarray:
        """The image of a serialized tf.Example, uint8 [height, width, 3]."""
        return self._session.run(self._decoded, {self._record: record})

    def seen(self, record: bytes) -> np.ndarray:
        """The same as it goes into the model: resized and normalised, float [1, height, width, 3]."""
        return self._session.run(self._seen, {self._record: record})

    def detect(self, record: bytes) -> Detections:
        """Detections in the image of a serialized tf.Example."""
        # The label map's ids begin at 1, the model's at 0; what is exported has the difference added in.
        return _detections(self._session.run(self._found, {self._record: record}), first_class=1)


class FrozenGraph(object):
    """frozen_inference_graph.pb, loaded into a graph of its own.

    Raises:
        Refused: the file is no such graph.
    """

    def __init__(self, path: str):
        definition = tf.GraphDef()
        try:
            with open(path, "rb") as source:
                definition.ParseFromString(source.read())
        except Exception as error:  # protobuf's own exceptions have no base class in common
            raise _no_graph(path, str(error).rstrip(".")) from error
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(definition, name="")
        there = {node.name for node in definition.node}
        missing = [name for name in OUTPUTS if name not in there]
        if missing:
            raise _no_graph(path, f"it has no {missing[0]}")
        self._outputs = {name: name + ":0" for name in OUTPUTS + (MASKS,) if name in there}
        self._session = tf.Session(graph=graph)

    def detect(self, image: np.ndarray) -> Detections:
        """Detections in a uint8 [height, width, 3] image."""
        return _detections(self._session.run(self._outputs, {INPUT: image[None]}))


class SavedModel(object):
    """A SavedModel's serving signature, loaded into a graph of its own."""

    def __init__(self, folder: str):
        with tf.Graph().as_default() as graph:
            self._session = tf.Session(graph=graph)
            loaded = tf.saved_model.load(self._session, [tf.saved_model.SERVING], folder)
        signature = loaded.signature_def[tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        self._input = signature.inputs["inputs"].name
        self._outputs = {name: signature.outputs[name].name for name in OUTPUTS + (MASKS,) if name in signature.outputs}

    def detect(self, image: np.ndarray) -> Detections:
        """Detections in a uint8 [height, width, 3] image."""
        return _detections(self._session.run(self._outputs, {self._input: image[None]}))


class TFLite(object):
    """A TFLite file with the post-processing operation, in TensorFlow's own interpreter.

    Args:
        path: the file.
        scale, offset: the model sees pixel * scale + offset.
    """

    def __init__(self, path: str, scale: Sequence[float], offset: Sequence[float]):
        self._interpreter = tf.lite.Interpreter(model_path=path)
        self._interpreter.allocate_tensors()
        (self._input,) = self._interpreter.get_input_details()
        self._outputs = [output["index"] for output in self._interpreter.get_output_details()]
        self._scale, self._offset = np.asarray(scale), np.asarray(offset)

    def detect(self, seen: np.ndarray) -> Detections:
        """Detections in an image as the model sees it (Checkpoint.seen)."""
        if self._input["dtype"] == np.uint8:
            seen = np.clip(np.round((seen - self._offset) / self._scale), 0, 255)
        self._interpreter.set_tensor(self._input["index"], seen.astype(self._input["dtype"]))
        self._interpreter.invoke()
        boxes, classes, scores, count = [self._interpreter.get_tensor(index) for index in self._outputs]
        # The operation does not clip at the image's edges, as the model does after the suppression.
        found = dict(zip(OUTPUTS, (count, np.clip(boxes, 0, 1), scores, classes)))
        return _detections(found, first_class=1)


class MasksInImage(object):
    """Puts the masks of boxes where they are in the image, as the API's evaluation does."""

    def __init__(self) -> None:
        with tf.Graph().as_default() as graph:
            self._boxes = tf.placeholder(tf.float32, [None, 4])
            self._masks = tf.placeholder(tf.float32, [None, None, None])
            self._size = tf.placeholder(tf.int32, [2])
            self._placed = eval_util.resize_detection_masks(self._boxes[None], self._masks[None], self._size[None])[0]
        self._session = tf.Session(graph=graph)

    def place(self, found: Detections, size: Tuple[int, int]) -> np.ndarray:
        """uint8 [n, height, width], 1 inside, of Detections with masks in an image of size (height, width)."""
        return self._session.run(self._placed, {self._boxes: found.boxes, self._masks: found.masks, self._size: size})


def _no_graph(path, why):
    return Refused(
        f"{path} cannot be read as a frozen graph: {why}.", "Export the model again, or name the folder of an export."
    )


def _detections(found, first_class=0):
    """Detections from arrays by the names of the model's outputs, with a batch of one in front."""
    count, boxes, scores, classes = [found[name] for name in OUTPUTS]
    count = int(count[0])
    return Detections(
        boxes[0][:count],
        scores[0][:count],
        classes[0][:count].astype(int) + first_class,
        found[MASKS][0][:count] if MASKS in found else None,
    )
