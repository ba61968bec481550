"""Evaluates checkpoints of a run: every validation image once, COCO and Pascal metrics, images for drawing.

A plain loop over the API's input function, model and evaluators: one graph, one session, a restore a checkpoint.
"""

import collections
import math
import unicodedata
from typing import Any, Callable, Counter, Dict, FrozenSet, List, Mapping, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf
from object_detection import eval_util, inputs, model_lib
from object_detection.builders import graph_rewriter_builder, model_builder
from object_detection.core import standard_fields as fields
from object_detection.utils import label_map_util, object_detection_evaluation

from tfod_train.checkpoints import weights
from tfod_train.evaluation import coco_per_class, visualization

DETECTIONS = fields.DetectionResultFields
GROUNDTRUTH = fields.InputDataFields
TRUE_SHAPE = "true_shape"
SOURCE_ID = "source_id"
LOSS_PREFIX = "Loss/"
# As the API's evaluators name a class's metric: Pascal's at one overlap, COCO's mean over ten, of boxes and masks.
AP50_OF_CLASS = "PascalBoxes_PerformanceByCategory/AP@0.5IOU/"
BOX_AP_OF_CLASS = "DetectionBoxes_PerformanceByCategory/mAP/"
MASK_AP_OF_CLASS = "DetectionMasks_PerformanceByCategory/mAP/"


class OfClass(NamedTuple):
    """What was measured of one class; None where it is not known: no validation box, or no masks.

    boxes: how many validation boxes there are. ap50: Pascal's AP at IOU 0.5. ap: COCO's, the mean over IOU 0.5,
    0.55, ... 0.95. mask_ap: the same with the overlap of masks.
    """

    boxes: int
    ap50: Optional[float]
    ap: Optional[float]
    mask_ap: Optional[float]


class Evaluation(NamedTuple):
    """What was measured of one checkpoint.

    `metrics` by the API's names, without those that nothing was there to measure for; `per_class` by class name, in id
    order; `weights` says which were used.
    """

    step: int
    images: int
    metrics: Dict[str, float]
    per_class: Dict[str, OfClass]
    weights: str
    kept_images: List[visualization.KeptImage]


class Evaluator(object):
    """The evaluation graph of a run; `evaluate` restores a checkpoint into it.

    Args:
        configs: dictionary of config objects (config_util.create_configs_from_pipeline_proto).
        session_config: ConfigProto.
        keep_images: how many images to keep for drawing.
    """

    def __init__(self, configs: Dict[str, Any], session_config: Any, keep_images: int = 12):
        self._configs = configs
        self._keep = keep_images
        self._categories = label_map_util.create_category_index_from_labelmap(
            configs["eval_input_config"].label_map_path, use_display_name=True
        )
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._iterator, self._results, self._losses = _build(configs)
            tf.train.get_or_create_global_step()
            self._savers: Dict[FrozenSet[str], Any] = {}
            self._prepare = [self._iterator.initializer, tf.tables_initializer()]
            self._session = tf.Session(config=session_config)

    @property
    def class_names(self) -> Dict[int, str]:
        """Class names by id, from the label map."""
        return {class_id: category["name"] for class_id, category in self._categories.items()}

    def evaluate(self, checkpoint: str, on_image: Callable[[int], None]) -> Evaluation:
        """Evaluates one checkpoint on every image of the validation split.

        Args:
            checkpoint: path without .index.
            on_image: function(number of images done).

        Returns:
            what was measured, and the images kept for drawing.
        """
        evaluators = self._evaluators()
        losses: Dict[str, float] = collections.defaultdict(float)
        boxes: Counter[int] = collections.Counter()
        kept_images: List[visualization.KeptImage] = []
        count = 0
        with self._graph.as_default():
            taken = self._restore(checkpoint)
            self._session.run(self._prepare)
            step = int(self._session.run(tf.train.get_global_step()))
            while True:
                try:
                    result, loss = self._session.run([self._results, self._losses])
                except tf.errors.OutOfRangeError:
                    break
                truth, found = _ground_truth(result), _detections(result)
                # Numbered here: source ids of foreign records may repeat, and repeated ids collapse in the metrics.
                for evaluator in evaluators:
                    evaluator.add_single_ground_truth_image_info(count, truth)
                    evaluator.add_single_detected_image_info(count, found)
                boxes.update(int(class_id) for class_id in truth[GROUNDTRUTH.groundtruth_classes])
                if len(kept_images) < self._keep:
                    kept_images.append(_kept_image(result, found, truth))
                for name, value in loss.items():
                    losses[name] += float(value)
                count += 1
                on_image(count)
        metrics = {}
        for evaluator in evaluators:
            metrics.update(measured(evaluator.evaluate()))
        per_class = of_classes(metrics, self.class_names, boxes)
        metrics = {name: value for name, value in metrics.items() if "ByCategory" not in name}
        metrics.update({name: total / max(count, 1) for name, total in losses.items()})
        return Evaluation(step, count, metrics, per_class, taken, kept_images)

    def _evaluators(self):
        categories = list(self._categories.values())
        masks = DETECTIONS.detection_masks in self._results and GROUNDTRUTH.groundtruth_instance_masks in self._results
        return coco_per_class.evaluators(categories, masks) + [
            object_detection_evaluation.PascalDetectionEvaluator(categories)
        ]

    def _restore(self, checkpoint):
        """Restores what weights.choose takes for the config's wish; returns what to say of it."""
        chosen = weights.of_graph(checkpoint, self._configs["eval_config"].use_moving_averages)
        names = frozenset(chosen.restore)
        if names not in self._savers:
            self._savers[names] = tf.train.Saver(chosen.restore)
        self._savers[names].restore(self._session, checkpoint)
        return chosen.words


def _build(configs):
    """The evaluation graph: (iterator, results of one image, losses of one image by name)."""
    eval_input_fn = inputs.create_eval_input_fn(configs["eval_config"], configs["eval_input_config"], configs["model"])
    iterator = tf.data.make_initializable_iterator(eval_input_fn())
    features, labels = iterator.get_next()
    model = model_builder.build(configs["model"], is_training=False, add_summaries=False)
    padded = labels[GROUNDTRUTH.groundtruth_boxes].shape[1].value is not None
    model_lib.provide_groundtruth(model, model_lib.unstack_batch(labels, unpad_groundtruth_tensors=padded))
    shapes = features[GROUNDTRUTH.true_image_shape]
    predictions = model.predict(features[GROUNDTRUTH.image], shapes)
    detections = model.postprocess(predictions, shapes)
    losses = {
        name if name.startswith(LOSS_PREFIX) else LOSS_PREFIX + name: loss
        for name, loss in model.loss(predictions, shapes).items()
    }
    if "graph_rewriter_config" in configs:
        graph_rewriter_builder.build(configs["graph_rewriter_config"], is_training=False)()
    groundtruth = model_lib._prepare_groundtruth_for_eval(  # pylint: disable=protected-access; the API is pinned
        model, False, configs["eval_input_config"].max_number_of_boxes
    )
    results = eval_util.result_dict_for_batched_example(
        features[GROUNDTRUTH.original_image],
        features[inputs.HASH_KEY],
        detections,
        groundtruth,
        scale_to_absolute=True,
        original_image_spatial_shapes=features[GROUNDTRUTH.original_image_spatial_shape],
        true_image_shapes=shapes,
    )
    results[TRUE_SHAPE] = shapes
    results[SOURCE_ID] = features.get(GROUNDTRUTH.source_id, tf.constant([""]))
    return iterator, results, losses


def measured(metrics: Mapping[str, float]) -> Dict[str, float]:
    """The metrics that something was there to measure for: COCO says -1 for the others, Pascal NaN."""
    return {name: float(value) for name, value in metrics.items() if not math.isnan(value) and value != -1}


def of_classes(metrics: Mapping[str, float], names: Mapping[int, str], boxes: Mapping[int, int]) -> Dict[str, OfClass]:
    """What was measured of each class by its name, in the order of the ids.

    Args:
        metrics: what `measured` gives, by the API's names.
        names: class names by id.
        boxes: how many validation boxes there are, by id.
    """

    def of_class(class_id, name):
        # The API's Pascal evaluator decomposes letters with accents, in the names of its metrics.
        ap50 = metrics.get(AP50_OF_CLASS + unicodedata.normalize("NFKD", name))
        return OfClass(
            boxes.get(class_id, 0), ap50, metrics.get(BOX_AP_OF_CLASS + name), metrics.get(MASK_AP_OF_CLASS + name)
        )

    return collections.OrderedDict((names[class_id], of_class(class_id, names[class_id])) for class_id in sorted(names))


def _ground_truth(result):
    """Ground truth of one image, padding cut off."""
    count = int(result[GROUNDTRUTH.num_groundtruth_boxes][0])
    keys = (
        GROUNDTRUTH.groundtruth_boxes,
        GROUNDTRUTH.groundtruth_classes,
        GROUNDTRUTH.groundtruth_is_crowd,
        GROUNDTRUTH.groundtruth_area,
        GROUNDTRUTH.groundtruth_difficult,
        GROUNDTRUTH.groundtruth_instance_masks,
    )
    truth = {key: result[key][0][:count] for key in keys if key in result}
    if GROUNDTRUTH.groundtruth_difficult in truth:
        truth[GROUNDTRUTH.groundtruth_difficult] = truth[GROUNDTRUTH.groundtruth_difficult].astype(bool)
    return truth


def _detections(result):
    count = int(result[DETECTIONS.num_detections][0])
    keys = (
        DETECTIONS.detection_boxes,
        DETECTIONS.detection_scores,
        DETECTIONS.detection_classes,
        DETECTIONS.detection_masks,
    )
    return {key: result[key][0][:count] for key in keys if key in result}


def _kept_image(result, found, truth):
    # The API keeps the "original" image resized as for the model, with padding; its own size is kept beside it.
    height, width = (int(side) for side in result[TRUE_SHAPE][0][:2])
    size = tuple(int(side) for side in result[GROUNDTRUTH.original_image_spatial_shape][0])
    seen = result["original_image"][0][:height, :width].astype("uint8")
    shown = np.flatnonzero(found[DETECTIONS.detection_scores] >= visualization.MIN_SCORE)
    masks = found.get(DETECTIONS.detection_masks)
    return visualization.KeptImage(
        result[SOURCE_ID][0].decode("utf-8"),
        seen,
        size,
        found[DETECTIONS.detection_boxes][shown],
        found[DETECTIONS.detection_scores][shown],
        found[DETECTIONS.detection_classes][shown],
        truth[GROUNDTRUTH.groundtruth_boxes],
        truth[GROUNDTRUTH.groundtruth_classes],
        None if masks is None else masks[shown],
        truth.get(GROUNDTRUTH.groundtruth_instance_masks),
    )
