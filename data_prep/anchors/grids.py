"""The anchors of a model at an input size, as its config's anchor_generator gives them; without TensorFlow.

The API's own arithmetic: a test holds it to object_detection/anchor_generators.
"""

import math
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

# SSD's feature maps where the first has a stride of 16 px and each next one half the cells of the one before.
_HALVING = ("ssd_mobilenet_v1", "ssd_mobilenet_v2", "ssd_inception_v2")
_FIRST_STRIDE = 16


class Grid(NamedTuple):
    """Anchors of one shape, in px of the input: size, and each one's centre at first + n * step; all are (x, y)."""

    size: Tuple[float, float]
    first: Tuple[float, float]
    step: Tuple[float, float]
    cells: Tuple[int, int]


def of_model(model: Any, width: int, height: int) -> Optional[List[Grid]]:
    """The Grids of all anchors that take part in training.

    Args:
        model: DetectionModel message of a pipeline config.
        width, height: of the model's input in px, after the resizer.

    Returns:
        a list, or None where the model's anchors cannot be told from its config alone.
    """
    kinds = {"ssd": _of_ssd, "faster_rcnn": _of_faster_rcnn}
    kind = model.WhichOneof("model")
    try:
        return kinds[kind](getattr(model, kind), width, height) if kind in kinds else None
    except (ArithmeticError, ValueError):
        # A ratio, a size or a stride that is none: the API says so when it builds the model.
        return None


def _of_ssd(ssd, width, height):
    generator = ssd.anchor_generator
    kind = generator.WhichOneof("anchor_generator_oneof")
    if kind == "multiscale_anchor_generator":
        return list(_multiscale(generator.multiscale_anchor_generator, (width, height)))
    if kind != "ssd_anchor_generator" or ssd.feature_extractor.type.replace("_keras", "") not in _HALVING:
        return None
    anchors = generator.ssd_anchor_generator
    # Strides and offsets of the config's own are rare, and not worth a second arithmetic.
    if anchors.height_stride or anchors.height_offset:
        return None
    return list(_ssd(anchors, (width, height)))


def _of_faster_rcnn(model, width, height):
    generator = model.first_stage_anchor_generator
    # Clipped at the image's edge, an anchor is of another shape at each place.
    if generator.WhichOneof("anchor_generator_oneof") != "grid_anchor_generator" or model.clip_anchors_to_image:
        return None
    return [
        cut
        for cut in (_inside(grid, (width, height)) for grid in _grid(generator.grid_anchor_generator, width, height))
        if min(cut.cells) > 0
    ]


def ssd_shapes(anchors: Any) -> List[List[Tuple[float, float]]]:
    """[(scale, width / height)] of each layer of an SsdAnchorGenerator message; a scale of 1 is the shorter side."""
    layers = anchors.num_layers
    scales = list(anchors.scales) or [
        anchors.min_scale + (anchors.max_scale - anchors.min_scale) * layer / max(layers - 1, 1)
        for layer in range(layers)
    ]
    shapes = []
    for layer, (scale, after) in enumerate(zip(scales[:layers], scales[1:] + [1.0])):
        if layer == 0 and anchors.reduce_boxes_in_lowest_layer:
            shapes.append([(0.1, 1.0), (scale, 2.0), (scale, 0.5)])
            continue
        between = anchors.interpolated_scale_aspect_ratio
        more = [(math.sqrt(scale * after), between)] if between > 0 else []
        shapes.append([(scale, ratio) for ratio in anchors.aspect_ratios] + more)
    return shapes


def _ssd(anchors, size) -> Iterator[Grid]:
    base = (anchors.base_anchor_width * min(size), anchors.base_anchor_height * min(size))
    count = tuple(math.ceil(side / _FIRST_STRIDE) for side in size)
    for shapes in ssd_shapes(anchors):
        step = (size[0] / count[0], size[1] / count[1])
        for scale, ratio in shapes:
            yield Grid(_shape(base, scale, ratio), (step[0] / 2, step[1] / 2), step, (count[0], count[1]))
        count = tuple(math.ceil(side / 2) for side in count)


def _multiscale(anchors, size) -> Iterator[Grid]:
    for level in range(anchors.min_level, anchors.max_level + 1):
        stride = 2.0**level
        first_x, first_y = (stride / 2 if side % stride == 0 else 0.0 for side in size)
        count = (math.ceil(size[0] / stride), math.ceil(size[1] / stride))
        base = (stride * anchors.anchor_scale,) * 2
        for part in range(anchors.scales_per_octave):
            for ratio in anchors.aspect_ratios:
                shape = _shape(base, 2.0 ** (part / anchors.scales_per_octave), ratio)
                yield Grid(shape, (first_x, first_y), (stride, stride), count)


def _grid(anchors, width, height) -> Iterator[Grid]:
    step = (float(anchors.width_stride), float(anchors.height_stride))
    count = (math.ceil(width / step[0]), math.ceil(height / step[1]))
    for scale in anchors.scales:
        for ratio in anchors.aspect_ratios:
            shape = _shape((anchors.width, anchors.height), scale, ratio)
            yield Grid(shape, (float(anchors.width_offset), float(anchors.height_offset)), step, count)


def _shape(base, scale, ratio):
    return (base[0] * scale * math.sqrt(ratio), base[1] * scale / math.sqrt(ratio))


def _inside(grid, size):
    """Without the anchors that reach beyond the image: Faster R-CNN does not train on them."""
    first, count = [], []
    for axis in (0, 1):
        low = math.ceil(max(0.0, (grid.size[axis] / 2 - grid.first[axis]) / grid.step[axis]))
        high = math.floor((size[axis] - grid.size[axis] / 2 - grid.first[axis]) / grid.step[axis])
        first.append(grid.first[axis] + low * grid.step[axis])
        count.append(min(high, grid.cells[axis] - 1) - low + 1)
    return grid._replace(first=(first[0], first[1]), cells=(count[0], count[1]))
