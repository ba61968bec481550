"""Anchors and an input size that fit a dataset's boxes: the cheapest that serve every class, else the best."""

import itertools
import math
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import numpy as np
from google.protobuf import text_format
from object_detection.protos import model_pb2

from data_prep.anchors import fit, grids
from data_prep.check.model_input import keep_aspect_ratio
from tfod_train.fitted_config.boxes import Sample
from tfod_train.fitted_config.models import Model, Pyramid

# A class is served where so many of its boxes have an anchor, and half of them are so large (px, the root of the area):
# of less than a cell or two of the finest map, little can be told apart.
SERVED = 0.75
SMALLEST_PX = 12.0
# More boxes say nothing more of how they are made, and the search takes a while.
BOXES_LOOKED_AT = 3000
# Two shapes nearer than this are one.
_ALIKE = 1.25


class Choice(NamedTuple):
    """pyramid: of the model. size: (width, height) of the input, px. generator: the anchors' fields, as text.

    shares: of each class's boxes, those that have an anchor of IoU 0.5 or more.
    """

    pyramid: Pyramid
    size: Tuple[int, int]
    generator: str
    shares: Dict[str, float]
    score: Tuple[float, ...]


def choose(model: Model, sample: Sample) -> Choice:
    """The cheapest input and anchors by which every class is served; else those that serve the worst one best."""
    sample = _thinned(sample)
    candidates = sorted(
        ((pyramid, size) for pyramid in model.pyramids for size in _sizes(model, pyramid, sample)),
        key=lambda pair: (pair[1][0] * pair[1][1] * pair[0].cost, model.pyramids.index(pair[0])),
    )
    best = None
    for pyramid, size in candidates:
        found = fitted(pyramid, size, sample)
        if min(found.shares.values(), default=1.0) >= SERVED and _smallest(sample, pyramid, size) >= SMALLEST_PX:
            return found
        if best is None or found.score > best.score:
            best = found
    assert best is not None
    return best


def fitted(pyramid: Pyramid, size: Tuple[int, int], sample: Sample) -> Choice:
    """The Choice of the best anchors for an input of a size."""
    boxes = scaled(sample, pyramid.kind, size)
    tried = (
        _judged(pyramid, size, generator, boxes, sample)
        for generator in dict.fromkeys(_generators(pyramid, boxes, size))
    )
    return max(tried, key=lambda choice: choice.score)


def usual(model: Model, sample: Sample) -> Dict[str, float]:
    """The share of each class's boxes that have an anchor by the model's own sample config."""
    kind = "grid" if model.usual.startswith("grid") else model.pyramids[0].kind
    boxes = scaled(sample, kind, model.usual_size)
    return _judged(model.pyramids[0], model.usual_size, model.usual, boxes, sample).shares


def scaled(sample: Sample, kind: str, size: Tuple[int, int]) -> Any:
    """Boxes [n, 4] in px of the model's input."""
    if kind != "grid":
        sides = np.array(size, dtype=float)
        return sample.boxes * np.concatenate([sides, sides])
    low, high = min(size), max(size)
    sides = np.array([keep_aspect_ratio(width, height, low, high) for width, height in sample.sizes]).reshape(-1, 2)
    return sample.boxes * np.concatenate([sides, sides], axis=1)


def _judged(pyramid, size, generator, boxes, sample):
    anchors = _grids(pyramid, size, generator)
    ious = fit.best_ious(boxes, anchors)
    fits = ious >= fit.MATCHED
    shares = {name: float(fits[sample.kinds == number].mean()) for number, name in enumerate(sample.names)}
    means = [float(ious[sample.kinds == number].mean()) for number in range(len(sample.names))]
    # By logarithms: what a poorly served class gains counts more than what a well served one loses, and yet none is
    # given up for the last percent of another. Where all are served, fewer anchors are better than a closer fit: each
    # is work, and one more to tell from the rest.
    served = sum(math.log(0.1 + min(share, 0.95)) for share in shares.values())
    return Choice(pyramid, size, generator, shares, (round(served, 1), sum(means) - 0.01 * len(anchors)))


def _grids(pyramid, size, generator):
    if pyramid.kind == "grid":
        text = f"faster_rcnn {{ first_stage_anchor_generator {{ {generator} }} }}"
    else:
        text = f"ssd {{ feature_extractor {{ type: '{pyramid.extractor}' }} anchor_generator {{ {generator} }} }}"
    return grids.of_model(text_format.Parse(text, model_pb2.DetectionModel()), *size) or []


def _sizes(model: Model, pyramid: Pyramid, sample: Sample) -> Iterator[Tuple[int, int]]:
    """Inputs of the images' usual proportions; at most twice as large, which brings a small box more cells."""
    if pyramid.kind == "grid":
        yield model.usual_size
        return
    width, height = np.median(sample.sizes, axis=0) if len(sample.sizes) else model.usual_size
    own = max(width, height, model.sides[0])
    for number, side in enumerate(model.sides):
        if number == 0 or side <= 2 * own:
            scale = side / max(width, height)
            yield _rounded(width * scale, pyramid.multiple), _rounded(height * scale, pyramid.multiple)


def _rounded(side, multiple):
    return max(multiple, int(round(side / multiple)) * multiple)


def _generators(pyramid: Pyramid, boxes: Any, size: Tuple[int, int]) -> Iterator[str]:
    """The anchors' fields that are tried."""
    sides = boxes[:, 2:] - boxes[:, :2] if len(boxes) else np.array([[size[0] / 4, size[1] / 4]])
    roots = np.sqrt(sides[:, 0] * sides[:, 1])
    low, high = np.quantile(roots, [0.02, 0.98])
    make = {"ssd": _ssd, "multiscale": _multiscale, "grid": _grid}[pyramid.kind]
    for ratios in _ratio_lists(np.log(sides[:, 0] / sides[:, 1])):
        yield from make(pyramid, float(low), float(high), ratios, min(size))


def _ssd(pyramid, low, high, ratios, side) -> Iterator[str]:
    layers = pyramid.layers
    for first, last in itertools.product((0.8, 1.0, 1.25, 1.6, 2.0), (0.7, 0.85, 1.0, 1.4, 2.0)):
        smallest = min(max(low * first / side, 0.02), 0.9)
        largest = min(max(high * last / side, smallest * 1.05), 0.95)
        geometric = [smallest * (largest / smallest) ** (layer / (layers - 1)) for layer in range(layers)]
        linear = [smallest + (largest - smallest) * layer / (layers - 1) for layer in range(layers)]
        for scales in (geometric, linear):
            yield (
                f"ssd_anchor_generator {{ num_layers: {layers} scales: [{_listed(scales)}] "
                f"aspect_ratios: [{_listed(ratios)}] reduce_boxes_in_lowest_layer: false }}"
            )


def _multiscale(pyramid, low, high, ratios, side) -> Iterator[str]:
    finest, coarsest = pyramid.levels
    for scale, octaves in itertools.product((1.0, 1.5, 2.0, 2.5, 3.0, 4.0), (1, 2, 3)):
        # The coarsest level that is needed for the largest boxes; its anchors reach to one octave above its own.
        last = next((level for level in range(finest, coarsest) if 2.0**level * scale * 1.6 >= high), coarsest)
        yield (
            f"multiscale_anchor_generator {{ min_level: {finest} max_level: {max(last, 5)} anchor_scale: {scale} "
            f"aspect_ratios: [{_listed(ratios)}] scales_per_octave: {octaves} }}"
        )


def _grid(pyramid, low, high, ratios, side) -> Iterator[str]:
    for count in (3, 4, 5):
        for first in (0.8, 1.0, 1.25):
            smallest, largest = low * first / 256, max(high / 256, low * first / 256 * 1.05)
            scales = [smallest * (largest / smallest) ** (number / (count - 1)) for number in range(count)]
            yield (
                f"grid_anchor_generator {{ scales: [{_listed(scales)}] aspect_ratios: [{_listed(ratios)}] "
                "height_stride: 16 width_stride: 16 }"
            )


def _ratio_lists(logs) -> List[List[float]]:
    """Lists of width / height to try: the middle alone, with the narrow and the wide, and squares with their kin."""
    narrow, lower, middle, upper, wide = (math.exp(value) for value in np.quantile(logs, [0.05, 0.25, 0.5, 0.75, 0.95]))
    lists = [[1.0], [middle], [narrow, middle, wide], [lower, upper], [narrow, lower, middle, upper, wide]]
    return [_distinct(ratios) for ratios in lists + [[1.0, 2.0, 0.5]]]


def _distinct(ratios):
    kept: List[float] = []
    for ratio in (1.0 if max(ratio, 1 / ratio) < 1.1 else ratio for ratio in ratios):
        if all(max(ratio / other, other / ratio) >= _ALIKE for other in kept):
            kept.append(round(min(max(ratio, 0.1), 10.0), 2))
    return kept


def _listed(numbers):
    return ", ".join(f"{number:.4g}" for number in numbers)


def _smallest(sample, pyramid, size):
    """The median root of the area, px of the input, of the class of which it is least."""
    boxes = scaled(sample, pyramid.kind, size)
    roots = np.sqrt((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))
    return min((float(np.median(roots[sample.kinds == number])) for number in range(len(sample.names))), default=1e9)


def _thinned(sample):
    """At most BOXES_LOOKED_AT, of every class alike, the rare ones whole."""
    if len(sample.boxes) <= BOXES_LOOKED_AT:
        return sample
    each = max(BOXES_LOOKED_AT // len(sample.names), 1)
    parts = [np.flatnonzero(sample.kinds == number) for number in range(len(sample.names))]
    kept = np.sort(np.concatenate([part[:: -(-len(part) // each)] for part in parts]))
    return sample._replace(boxes=sample.boxes[kept], kinds=sample.kinds[kept], sizes=sample.sizes[kept])
