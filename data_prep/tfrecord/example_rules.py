"""What a tf.train.Example has to hold so that the Object Detection API's decoder and training can use it.

Types and meanings are those of object_detection/data_decoders/tf_example_decoder.py. Pure but for Pillow, which
reads the head of the image.
"""

import io
import math
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from common.text import counted
from data_prep.tfrecord import example_proto
from data_prep.tfrecord.label_map import LabelMap
from data_prep.wording import box_text, first_line, size_text

FLOATS, INTS, BYTES = "float_list", "int64_list", "bytes_list"
_KIND_WORDS = {FLOATS: "floats", INTS: "int64", BYTES: "bytes"}
SIDES = ("xmin", "ymin", "xmax", "ymax")
BOX_KEYS = tuple("image/object/bbox/" + side for side in SIDES)
LABELS, TEXTS, MASKS = "image/object/class/label", "image/object/class/text", "image/object/mask"
ENCODED, SOURCE_ID = "image/encoded", "image/source_id"
# What the decoder reads as exactly one value, and what as a list.
_SINGLE = {
    ENCODED: BYTES,
    "image/format": BYTES,
    "image/filename": BYTES,
    "image/key/sha256": BYTES,
    SOURCE_ID: BYTES,
    "image/height": INTS,
    "image/width": INTS,
}
_LISTS = dict(
    {key: FLOATS for key in BOX_KEYS + ("image/object/area", "image/object/weight")},
    **{
        LABELS: INTS,
        TEXTS: BYTES,
        "image/object/is_crowd": INTS,
        "image/object/difficult": INTS,
        "image/object/group_of": INTS,
    },
)
# Per object where they are given at all.
_PER_OBJECT = (
    "image/object/area",
    "image/object/weight",
    "image/object/is_crowd",
    "image/object/difficult",
    "image/object/group_of",
)
TRAINABLE_FORMATS = ("JPEG", "MPO", "PNG", "BMP")
# 32-bit shares of a side: a last digit over 1 is rounding.
_ROUNDING = 1e-6
SMALL_PIXELS = 8


# {key: (kind, values)} of an example.
Features = Dict[str, Tuple[str, Sequence[Any]]]
# xmin, ymin, xmax, ymax as shares of the image's sides.
Sides = Tuple[float, float, float, float]
# (width, height) of an image -> (width, height) of the model's input.
Resize = Callable[[int, int], Tuple[float, float]]


class Rules(NamedTuple):
    """What the whole dataset promises; None where nothing is known."""

    num_classes: Optional[int] = None
    label_map: Optional[LabelMap] = None
    max_boxes: int = 100  # the API's default of max_number_of_boxes
    resize: Optional[Resize] = None


class Head(NamedTuple):
    """What the head of an image file says; orientation as in Exif, 1 is upright."""

    format: str
    width: int
    height: int
    orientation: int


class Problem(NamedTuple):
    """kind: a key of data_prep.check.problems.KINDS. detail: what it is here. times: objects that have it."""

    kind: str
    detail: str = ""
    times: int = 1


def parse(payload: bytes) -> Features:
    """The Features of a serialised tf.train.Example; kinds are FLOATS, INTS or BYTES.

    Features without any value list are left out.

    Raises:
        ValueError: payload is no Example.
    """
    example = example_proto.parse(payload)
    kinds = ((key, feature, feature.WhichOneof("kind")) for key, feature in example.features.feature.items())
    return {key: (kind, getattr(feature, kind).value) for key, feature, kind in kinds if kind}


def values(features: Features, key: str, kind: str) -> Sequence[Any]:
    """The values of a feature, an empty list if it is missing or of another kind."""
    found, listed = features.get(key, (kind, ()))
    return listed if found == kind else ()


def text(features: Features, key: str) -> str:
    """The first value of a bytes feature as text; "" if there is none."""
    listed = values(features, key, BYTES)
    return listed[0].decode("utf-8", "replace") if listed else ""


def boxes(features: Features) -> List[Sides]:
    """[(xmin, ymin, xmax, ymax)] as shares of the image's sides; as many as all four lists have."""
    return list(zip(*(values(features, key, FLOATS) for key in BOX_KEYS)))


def class_ids(features: Features, label_map: Optional[LabelMap] = None) -> List[Optional[int]]:
    """The class id of each object as the API sees it: from the texts where there is a label map and any text.

    A text that the label map does not have gives None.
    """
    texts = values(features, TEXTS, BYTES)
    if label_map is not None and texts:
        return [label_map.ids.get(item.decode("utf-8", "replace")) for item in texts]
    return list(values(features, LABELS, INTS))


def head(encoded: bytes) -> Head:
    """The Head of an image file's bytes.

    Raises:
        ValueError: they are no image.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(encoded))
            orientation = image.getexif().get(0x0112, 1) if image.info.get("exif") else 1
    # Pillow raises nearly every built-in exception on damaged files; each means: not usable.
    except Exception as error:
        raise ValueError(first_line(error, "it is no image")) from error
    return Head(image.format, image.width, image.height, orientation if orientation in range(1, 9) else 1)


def decode(encoded: bytes) -> Tuple[int, int]:
    """(width, height) of the image decoded to its last row.

    Raises:
        ValueError: that fails; the text says why.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(encoded))
            image.load()
    except Exception as error:
        raise ValueError(first_line(error, "it is no image")) from error
    return image.size


def problems(features: Features, rules: Rules) -> List[Problem]:
    """Everything that is wrong with one example, as a list of Problem."""
    wrong = _type_problems(features)
    if wrong:
        # What is of the wrong type cannot be judged further without saying everything twice.
        return wrong
    wrong, size = _image_problems(features)
    return wrong + _object_problems(features, rules, size or stated_size(features))


def _type_problems(features):
    wrong = []
    for key, kind in list(_SINGLE.items()) + list(_LISTS.items()):
        found, listed = features.get(key, (kind, None))
        if found != kind:
            wrong.append(Problem("wrong-type", f"{key} holds {_KIND_WORDS[found]} instead of {_KIND_WORDS[kind]}"))
        elif listed is not None and key in _SINGLE and len(listed) != 1:
            wrong.append(Problem("wrong-type", f"{key} holds {len(listed)} values instead of one"))
    if features.get(MASKS, (BYTES,))[0] == INTS:
        wrong.append(Problem("wrong-type", f"{MASKS} holds int64 instead of bytes (PNG) or floats"))
    return wrong


def _image_problems(features):
    """(problems, (width, height) of the image or None)."""
    encoded = values(features, ENCODED, BYTES)
    if not encoded or not encoded[0]:
        return [Problem("no-image")], None
    if text(features, "image/format").lower() == "raw":
        return [Problem("image-format", "image/format says raw")], None
    try:
        found = head(encoded[0])
    except ValueError as reason:
        return [Problem("image-broken", str(reason))], None
    wrong = []
    if found.format not in TRAINABLE_FORMATS:
        wrong.append(Problem("image-format", f"it is {found.format}"))
    if found.orientation != 1:
        wrong.append(Problem("image-turned", f"orientation {found.orientation}"))
    stated, size = stated_size(features), (found.width, found.height)
    if stated is not None and stated != size:
        # The API reshapes numerical masks by the stated size.
        wrong.append(
            Problem(
                "mask-broken" if values(features, MASKS, FLOATS) else "size-differs",
                f"stated {size_text(stated)}, is {size_text(size)}",
            )
        )
    return wrong, size


def stated_size(features: Features) -> Optional[Tuple[int, int]]:
    """(width, height) as the example states them, or None."""
    sides = [values(features, "image/" + side, INTS) for side in ("width", "height")]
    return (sides[0][0], sides[1][0]) if all(sides) else None


def _object_problems(features, rules, size):
    lengths = {key: len(values(features, key, FLOATS)) for key in BOX_KEYS}
    labels, texts = values(features, LABELS, INTS), values(features, TEXTS, BYTES)
    count = max(lengths.values())
    given = dict(lengths, **{key: len(listed) for key, listed in ((LABELS, labels), (TEXTS, texts)) if listed})
    given.update({key: len(features[key][1]) for key in _PER_OBJECT if key in features and len(features[key][1])})
    if len(set(given.values())) > 1:
        return [
            Problem(
                "list-lengths",
                ", ".join(f"{key[len('image/object/') :]} {number}" for key, number in sorted(given.items())),
            )
        ]
    if not count:
        return _mask_problems(features, 0)
    wrong = _box_problems(features, size) + _class_problems(labels, texts, count, rules)
    wrong += _mask_problems(features, count)
    if count > rules.max_boxes:
        wrong.append(Problem("many-boxes", f"{count} boxes"))
    small = sum(pixels < SMALL_PIXELS for pixels in input_pixels(features, rules, size))
    if small:
        wrong.append(Problem("small-box", f"{small} of {count} boxes", small))
    return wrong


def _box_problems(features, size):
    found: Dict[str, List[str]] = {}
    for box in boxes(features):
        kind = _box_kind(box, size)
        if kind:
            found.setdefault(kind, []).append(box_text(box))
    return [Problem(kind, "box " + listed[0], len(listed)) for kind, listed in found.items()]


def _box_kind(box, size):
    """What is wrong with a box, or None. size: (width, height) of the image or None."""
    if not all(map(math.isfinite, box)):
        return "box-not-finite"
    xmin, ymin, xmax, ymax = box
    if min(box) < -_ROUNDING or max(box) > 1 + _ROUNDING:
        width, height = size or (math.inf, math.inf)
        inside = min(box) >= -1 and max(xmin, xmax) <= width + 1 and max(ymin, ymax) <= height + 1
        return "box-in-pixels" if inside and max(box) > 2 else "box-outside"
    return "box-inverted" if xmax <= xmin or ymax <= ymin else None


def _class_problems(labels, texts, count, rules):
    if not labels and not texts:
        return [Problem("class-missing", f"{count} boxes", count)]
    wrong = []
    known = rules.label_map.ids if rules.label_map else None
    if known is None and not labels:
        wrong.append(Problem("class-missing", "texts alone need a label map (--label-map)", count))
    outside = [label for label in labels if label < 1 or (rules.num_classes and label > rules.num_classes)]
    if outside:
        limit = f" of 1 to {rules.num_classes}" if rules.num_classes else ""
        wrong.append(Problem("class-id", f"id {outside[0]}{limit and ' instead' + limit}", len(outside)))
    if known is None:
        return wrong
    # Where there are texts the API takes the classes from them.
    strangers = [label for label in labels if label not in rules.label_map.names and label not in outside]
    if strangers and not texts:
        wrong.append(Problem("class-id", f"id {strangers[0]}, which the label map does not have", len(strangers)))
    names = [item.decode("utf-8", "replace") for item in texts]
    unknown = [name for name in names if name not in known]
    if unknown:
        wrong.append(Problem("class-text", repr(unknown[0]), len(unknown)))
    differing = [(name, label) for name, label in zip(names, labels) if name in known and known[name] != label]
    if differing:
        name, label = differing[0]
        wrong.append(
            Problem("text-and-id", f"{name} is {known[name]} in the label map and {label} here", len(differing))
        )
    return wrong


def _mask_problems(features, count):
    kind, masks = features.get(MASKS, (None, ()))
    if not len(masks):
        return []
    if kind == BYTES:
        detail = f"{counted(len(masks), 'mask')} for {counted(count, 'box', 'boxes')}"
        return [] if len(masks) == count else [Problem("mask-count", detail)]
    size = stated_size(features)
    if size is None:
        return [Problem("mask-count", "numerical masks need image/height and image/width")]
    if len(masks) == count * size[0] * size[1]:
        return []
    return [
        Problem(
            "mask-count",
            f"{counted(len(masks), 'mask value')} for {counted(count, 'box', 'boxes')} of a {size_text(size)} image",
        )
    ]


def input_pixels(features: Features, rules: Rules, size: Optional[Tuple[int, int]]) -> List[float]:
    """The shorter side of each sound box in pixels of the model's input.

    Args:
        features: of the example.
        rules: say how large the input is.
        size: (width, height) of the image.

    Returns:
        empty where the input's or the image's size is not known.
    """
    if rules.resize is None or size is None or min(size) < 1:
        return []
    width, height = rules.resize(*size)
    return [
        min((box[2] - box[0]) * width, (box[3] - box[1]) * height)
        for box in boxes(features)
        if _box_kind(box, size) is None
    ]


def decoding_problems(features: Features) -> List[Problem]:
    """What only decoding to the last row shows of the image and of PNG masks, as a list of Problem."""
    encoded = values(features, ENCODED, BYTES)
    if not encoded or not encoded[0]:
        return []
    try:
        head(encoded[0])
    except ValueError:
        return []  # `problems` has named it
    try:
        size = decode(encoded[0])
    except ValueError as reason:
        return [Problem("image-broken", str(reason))]
    wrong = []
    for mask in values(features, MASKS, BYTES):
        try:
            mask_size = decode(mask)
        except ValueError as reason:
            wrong.append(f"mask: {reason}")
            continue
        if mask_size != size:
            wrong.append(f"mask of {size_text(mask_size)} on an image of {size_text(size)}")
    return [Problem("mask-broken", wrong[0], len(wrong))] if wrong else []
