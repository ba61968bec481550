"""MODELS: what `make config` can write. One more is a Model here; its template has the parts that no data decides."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from common.errors import SETTINGS_REFUSED, Refused
from common.text import nearest


class Pyramid(NamedTuple):
    """A feature extractor and the anchors of its maps.

    kind: "ssd" (ssd_anchor_generator), "multiscale" (an FPN's) or "grid" (Faster R-CNN's).
    extractor: feature_extractor.type.
    layers: maps of an SSD's; levels: the finest and the coarsest of an FPN.
    multiple: of which both sides of the input have to be a multiple, px. cost: of one px of input against an SSD's.
    """

    kind: str
    extractor: str
    layers: int = 6
    levels: Tuple[int, int] = (3, 7)
    multiple: int = 32
    cost: float = 1.0


class Model(NamedTuple):
    """A model that a config can be written for.

    about: half a sentence for lists. template: of templates/. pyramids: the cheapest first. sides: the longer sides of
    the input that are tried, px, ascending. usual: the anchors' fields in the model's own sample config, at usual_size
    (width, height): what "before" means. zoo: name of the model zoo's checkpoint. small: a quarter of the channels.
    """

    about: str
    template: str
    pyramids: List[Pyramid]
    sides: Tuple[int, ...]
    usual: str
    usual_size: Tuple[int, int]
    zoo: Optional[str] = None
    small: bool = False


_SSD_USUAL = (
    "ssd_anchor_generator { num_layers: 6 min_scale: 0.2 max_scale: 0.95 aspect_ratios: [1.0, 2.0, 0.5, 3.0, 0.3333] }"
)
_SMALL_USUAL = (
    "ssd_anchor_generator { num_layers: 4 min_scale: 0.15 max_scale: 0.7 aspect_ratios: [1.0, 0.75, 1.3333] "
    "reduce_boxes_in_lowest_layer: false }"
)
_FPN_USUAL = (
    "multiscale_anchor_generator { min_level: 3 max_level: 7 anchor_scale: 4.0 aspect_ratios: [1.0, 2.0, 0.5] "
    "scales_per_octave: 2 }"
)
_GRID_USUAL = (
    "grid_anchor_generator { scales: [0.25, 0.5, 1.0, 2.0] aspect_ratios: [0.5, 1.0, 2.0] height_stride: 16 "
    "width_stride: 16 }"
)
_GRID = [Pyramid("grid", "faster_rcnn_resnet50")]

MODELS: Dict[str, Model] = {
    "ssd_mobilenet_v1_small": Model(
        "a quarter of MobileNet's channels, from scratch: for CPUs",
        "ssd.config",
        [
            Pyramid("ssd", "ssd_mobilenet_v1", layers=4),
            Pyramid("multiscale", "ssd_mobilenet_v1_fpn", levels=(3, 6), cost=1.2),
        ],
        (160, 192, 224, 256, 320, 384, 448, 512, 640),
        _SMALL_USUAL,
        (160, 160),
        small=True,
    ),
    "ssd_mobilenet_v1": Model(
        "fast on one GPU",
        "ssd.config",
        [Pyramid("ssd", "ssd_mobilenet_v1")],
        (320, 384, 448, 512, 640, 768),
        _SSD_USUAL,
        (300, 300),
        zoo="ssd_mobilenet_v1_coco",
    ),
    "ssd_mobilenet_v2": Model(
        "fast on one GPU, the newer of the two",
        "ssd.config",
        [Pyramid("ssd", "ssd_mobilenet_v2")],
        (320, 384, 448, 512, 640, 768),
        _SSD_USUAL,
        (300, 300),
        zoo="ssd_mobilenet_v2_coco",
    ),
    "ssd_resnet50_fpn": Model(
        "RetinaNet: small objects too, for several GPUs",
        "ssd.config",
        [Pyramid("multiscale", "ssd_resnet50_v1_fpn", multiple=128, cost=4.0)],
        (512, 640, 768, 896, 1024),
        _FPN_USUAL,
        (640, 640),
        zoo="ssd_resnet50_v1_fpn_shared_box_predictor_640x640_coco14_sync",
    ),
    "faster_rcnn_resnet50": Model(
        "exact and slow",
        "faster_rcnn.config",
        _GRID,
        (1024,),
        _GRID_USUAL,
        (1024, 600),
        zoo="faster_rcnn_resnet50_coco",
    ),
    "faster_rcnn_resnet101": Model(
        "exact, slower still",
        "faster_rcnn.config",
        [_GRID[0]._replace(extractor="faster_rcnn_resnet101")],
        (1024,),
        _GRID_USUAL,
        (1024, 600),
        zoo="faster_rcnn_resnet101_coco",
    ),
}
DEFAULT = {"cpu": "ssd_mobilenet_v1_small", "gpu": "ssd_mobilenet_v2"}


def find(name: str) -> Model:
    """The Model of a name; the model zoo's names mean it, too.

    Raises:
        Refused: there is none of that name.
    """
    named = next((key for key, model in MODELS.items() if name == model.zoo), name)
    if named in MODELS:
        return MODELS[named]
    near = nearest(name, MODELS)
    raise Refused(
        f"MODEL={name}: no config is written for such a model.",
        (f"Did you mean {near}? " if near else "")
        + f"There are {', '.join(MODELS)}; for another, start from its sample config.",
        SETTINGS_REFUSED,
    )
