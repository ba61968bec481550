"""What a pipeline config file says about the data: classes, the model's input size, boxes and masks."""

import functools
import os
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from common.errors import DataError, UsageError
from data_prep.anchors import grids
from data_prep.tfrecord.example_rules import Resize

_MASK_TYPES = {0: "numerical", 1: "numerical", 2: "png"}  # object_detection/protos/input_reader.proto


class Facts(NamedTuple):
    """None where the config does not say. resize: as example_rules.Rules.resize. masks: "png", "numerical" or None.

    most_detections: how many objects of an image the model can find. anchors: from the input's (width, height) in px to
    its Grids, or to None.
    """

    num_classes: Optional[int]
    label_map: Optional[str]
    max_boxes: int
    masks: Optional[str]
    resize: Optional[Resize]
    most_detections: Optional[int] = None
    anchors: Callable[[int, int], Optional[List[grids.Grid]]] = lambda width, height: None


def read(path: str) -> Facts:
    """The Facts of a TrainEvalPipelineConfig (text).

    Raises:
        UsageError: the file is none.
        DataError: the API is not there to read it.
    """
    try:
        from google.protobuf import text_format
        from object_detection.protos import pipeline_pb2
    except ImportError as error:
        raise DataError(
            f"--config needs the Object Detection API ({error}).",
            "Run it with .venv/bin/python after make setup, or give --input-size and --num-classes.",
        ) from error
    config = pipeline_pb2.TrainEvalPipelineConfig()
    try:
        with open(path, encoding="utf-8") as file:
            text_format.Merge(file.read(), config)
    except OSError as error:
        raise UsageError(f"--config {path}: {error.strerror}.", "Name a pipeline config file.") from error
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} is no pipeline config: {str(error).rstrip('.')}.",
            "Line and column are given before the field; correct it there.",
        ) from error
    return facts(config)


def facts(config: Any) -> Facts:
    """The Facts of a TrainEvalPipelineConfig message."""
    kind = config.model.WhichOneof("model")
    model = getattr(config.model, kind) if kind else None
    reader = config.train_input_reader
    return Facts(
        num_classes=getattr(model, "num_classes", None) or None,
        label_map=reader.label_map_path if os.path.isfile(reader.label_map_path) else None,
        max_boxes=reader.max_number_of_boxes,
        masks=_MASK_TYPES[reader.mask_type] if reader.load_instance_masks else None,
        resize=_resizer(getattr(model, "image_resizer", None)),
        most_detections=_most_detections(kind, model),
        # Most images come out of the resizer in a few sizes.
        anchors=functools.lru_cache(maxsize=64)(functools.partial(grids.of_model, config.model)),
    )


def _most_detections(kind, model):
    """max_total_detections; None where the config leaves it to the API."""
    stages = {"ssd": "post_processing", "faster_rcnn": "second_stage_post_processing"}
    if kind not in stages:
        return None
    suppression = getattr(model, stages[kind]).batch_non_max_suppression
    return suppression.max_total_detections if suppression.HasField("max_total_detections") else None


def _resizer(image_resizer):
    kind = image_resizer.WhichOneof("image_resizer_oneof") if image_resizer is not None else None
    if kind == "fixed_shape_resizer":
        fixed = (image_resizer.fixed_shape_resizer.width, image_resizer.fixed_shape_resizer.height)
        return lambda width, height: fixed
    if kind == "keep_aspect_ratio_resizer":
        low = image_resizer.keep_aspect_ratio_resizer.min_dimension
        high = image_resizer.keep_aspect_ratio_resizer.max_dimension
        return lambda width, height: keep_aspect_ratio(width, height, low, high)
    return (lambda width, height: (width, height)) if kind == "identity_resizer" else None


def keep_aspect_ratio(width: int, height: int, low: int, high: int) -> Tuple[float, float]:
    """(width, height) with the shorter side at low, or the longer one at high where that would be less."""
    scale = min(low / min(width, height), high / max(width, height))
    return width * scale, height * scale
