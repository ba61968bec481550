"""Which numbers of a class head belong to which class, so that a model of other classes keeps those it shares.

A head's variables have their outputs on the last axis: groups (anchors, or bins of an R-FCN), in each a slot a class,
before them one of the background where the head has it, in each slot one or more numbers. numpy alone.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

_VALUES = r"(weights|biases|kernel|bias|pointwise_weights|pointwise_kernel)$"
_CLASSES = re.compile(r"(^|/)ClassPredictor/" + _VALUES)
_SECOND_STAGE = re.compile(r"SecondStageBoxPredictor/(.*/)?(?P<layer>\w+)/" + _VALUES)
NEW = -1


class Layout(NamedTuple):
    """background: whether a slot before the classes' is the background's. size: numbers in a slot."""

    background: bool
    size: int = 1

    def slots(self, classes: int) -> int:
        """How many slots a head for so many classes has."""
        return classes + int(self.background)


class ByName(NamedTuple):
    """Classes by name: `kept` and `new` in the new model's order, `dropped` in the old one's.

    old_ids: the old id by the new one, of those that are kept. The ids of a model go from 1 to its number of classes.
    """

    kept: List[str]
    new: List[str]
    dropped: List[str]
    old_ids: Dict[int, int]
    old_classes: int


class Head(NamedTuple):
    """What a variable of a head takes from a checkpoint: for each output its index there, NEW for none."""

    name: str
    outputs: Any


class Heads(NamedTuple):
    """The class heads of a model, and what they can take from a checkpoint.

    model: the config's DetectionModel. classes: how many it has. names: what becomes of the checkpoint's classes.
    """

    model: Any
    classes: int
    names: ByName

    def layout(self, name: str) -> Optional[Layout]:
        """Layout of a variable by its name; None for one that is no head's."""
        return layout(name, self.model)

    def head(self, name: str, shape: Sequence[int], old_shape: Sequence[int]) -> Optional[Head]:
        """The Head of a variable; None where it is none, or the checkpoint's differs in more than its classes."""
        of = self.layout(name)
        outputs = _outputs(of, self.classes, shape[-1], old_shape[-1], self.names) if of else None
        return None if outputs is None or list(shape[:-1]) != list(old_shape[:-1]) else Head(name, outputs)


def by_name(old: Dict[str, int], new: Dict[str, int]) -> ByName:
    """What becomes of the classes of a checkpoint (id by name) in a model (id by name)."""

    def in_order(names: Any, ids: Dict[str, int]) -> List[str]:
        return sorted(names, key=lambda name: ids[name])

    kept = in_order(set(old) & set(new), new)
    old_ids = {new[name]: old[name] for name in kept}
    gone, added = in_order(set(old) - set(new), old), in_order(set(new) - set(old), new)
    return ByName(kept, added, gone, old_ids, max(old.values()))


def layout(name: str, model: Any) -> Optional[Layout]:
    """Layout of a variable that has outputs for each class; None for every other.

    Args:
        name: of the variable.
        model: the config's DetectionModel.
    """
    if model.WhichOneof("model") == "ssd":
        return Layout(model.ssd.add_background_class) if _CLASSES.search(name) else None
    found = _SECOND_STAGE.match(name)
    if not found or model.WhichOneof("model") != "faster_rcnn":
        return None
    predictor = model.faster_rcnn.second_stage_box_predictor
    if predictor.WhichOneof("box_predictor_oneof") == "rfcn_box_predictor":
        box = Layout(False, predictor.rfcn_box_predictor.box_code_size)
        return {"class_predictions": Layout(True), "refined_locations": box}.get(found.group("layer"))
    return _of_mask_rcnn(found.group("layer"), predictor.mask_rcnn_box_predictor)


def filled(initial: Any, old: Any, outputs: Any) -> Any:
    """The variable's own initial value with the outputs that a checkpoint's value has; all are numpy arrays."""
    value, kept = initial.copy(), outputs != NEW
    value[..., kept] = old[..., outputs[kept]]
    return value


def _of_mask_rcnn(layer, predictor):
    if layer in ("ClassPredictor", "ClassPredictor_dense"):
        return Layout(True)
    if layer in ("BoxEncodingPredictor", "BoxEncodingPredictor_dense"):
        return None if predictor.share_box_across_classes else Layout(False, predictor.box_code_size)
    before = predictor.mask_prediction_num_conv_layers - 1 + int(predictor.convolve_then_upsample_masks)
    masks = ("MaskPredictor_last_conv2d", f"Conv_{before}" if before else "Conv")
    separate = predictor.predict_instance_masks and not predictor.masks_are_class_agnostic
    return Layout(False) if separate and layer in masks else None


def _outputs(of, classes, new_size, old_size, names):
    """For each output its index in the checkpoint's variable, NEW for none; None where the sizes are not a head's."""
    slots, old_slots = of.slots(classes), of.slots(names.old_classes)
    groups = new_size // (slots * of.size)
    if new_size != groups * slots * of.size or old_size != groups * old_slots * of.size:
        return None
    first = int(of.background)
    sources = np.full(slots, NEW)
    sources[:first] = 0
    for new_id, old_id in names.old_ids.items():
        sources[new_id - 1 + first] = old_id - 1 + first
    numbers = sources[:, None] * of.size + np.arange(of.size)
    slot = np.where(sources[:, None] == NEW, NEW, numbers).ravel()
    starts = np.arange(groups)[:, None] * (old_slots * of.size)
    return np.where(slot == NEW, NEW, starts + slot).ravel()
