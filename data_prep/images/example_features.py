"""An image and its annotation become the features of one example, with the keys of the API's converters."""

import hashlib
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Tuple

from common import files
from common.errors import DataError
from data_prep.images import boxes as box_rules
from data_prep.images import frame as frames
from data_prep.images import normalize
from data_prep.tfrecord import codec
from data_prep.wording import size_text
from data_prep.writer import dataset

if TYPE_CHECKING:
    from data_prep.source.annotation import Annotation


class Recipe(NamedTuple):
    """labels: {class name: id}. masks: one of data_prep.source.arguments.MASKS.

    coco: write is_crowd and area, as the API's COCO converter does, instead of difficult, truncated and view.
    any_size: boxes are in pixels of the image, whatever size the annotation claims: so it is in the Oxford pets.
    """

    labels: Dict[str, int]
    masks: str = "none"
    coco: bool = False
    any_size: bool = False


class Source(NamedTuple):
    """name: the image's file name. source_id: unique in the dataset. data: the file's bytes.

    damaged: it is known to be decodable but broken, so it is written anew. exif: gives that argument of frames.of, for
    images that have an orientation.
    """

    name: str
    source_id: str
    data: bytes
    damaged: bool = False
    exif: Callable[[], str] = str


def convert(source: Source, annotation: "Annotation", recipe: Recipe) -> dataset.Outcome:
    """The Outcome of one image.

    Args:
        source: its file.
        annotation: what is in it.
        recipe: what to write.

    Raises:
        ValueError: it has to be skipped; the text says why.
        DataError: a class appeared while others were converted.
    """
    image = normalize.load(source.data, source.damaged)
    if recipe.any_size:
        frame = _frame_of_any_size(annotation, image)
    else:
        frame = frames.of(annotation, image, source.exif() if image.orientation != 1 else "")
    objects, notes = _usable(annotation, image, frame, with_masks=recipe.masks != "none")
    if annotation.objects and not objects:
        raise ValueError("; ".join(text for kind, text in notes if kind == "rejected box"))
    key = hashlib.sha256(image.encoded).hexdigest()
    original = hashlib.sha256(source.data).hexdigest() if image.changed else key
    labels = codec.Ints(_label(item, recipe) for item in objects)
    return dataset.Outcome(
        _features(source, image, key, objects, labels, recipe),
        tuple(labels),
        notes=tuple(notes),
        source_sha256=original,
        size=(image.width, image.height),
    )


def read_file(path: str) -> bytes:
    """The bytes of an image file.

    Raises:
        ValueError: it cannot be read; the text says why.
    """
    try:
        return files.read(path)
    except OSError as error:
        raise ValueError(f"the image file cannot be read ({error.strerror})") from error


def _label(item, recipe):
    try:
        return recipe.labels[item.name]
    except KeyError as error:
        # The names were looked at before; whoever edits files meanwhile must not lose a box without a word.
        raise DataError(
            f"The class {item.name} appeared while the dataset was being converted.",
            "Run the same command again, with nobody editing the annotations.",
        ) from error


def _frame_of_any_size(annotation, image):
    """Boxes drawn on the upright image are left alone; those drawn on the stored one turn with it."""
    upright, claimed = (image.width, image.height), (annotation.width, annotation.height)
    stored = upright if image.orientation < 5 else upright[::-1]
    turned = image.orientation > 1 and (claimed == stored or claimed != upright)
    note = ""
    if claimed not in (stored, upright):
        note = f"the annotation says {size_text(claimed)}, the image is {size_text(upright)}"
    return frames.Frame((1.0, 1.0), image.orientation if turned else 1, stored if turned else upright, note)


def _usable(annotation, image, frame, with_masks):
    """The objects whose boxes lie in the image, scaled, turned and clipped with it; notes on what was changed."""
    notes = [("reencoded", image.changed)] if image.changed else []
    notes += [("other size", frame.note)] if frame.note else []
    notes += [("changed object", note) for item in annotation.objects for note in item.notes]
    upright: Tuple[int, int] = (image.width, image.height)
    usable = []
    for item in annotation.objects:
        try:
            if item.box is None:
                raise ValueError(item.problem or "an object has no box that can be read")
            if not item.name:
                raise ValueError("an object has no class name")
            box, clipped = box_rules.fit(frame.place(item.box), *upright)
            mask = _mask(item, frame, upright) if with_masks else None
        except ValueError as reason:
            notes.append(("rejected box", str(reason)))
            continue
        if clipped:
            notes.append(("clipped box", f"up to one pixel outside of the {size_text(upright)} image"))
        area = item.area * frame.scale[0] * frame.scale[1]
        usable.append(item._replace(box=box, mask=mask, area=area))
    return usable, notes


def _mask(item, frame, upright):
    if item.mask is None:
        raise ValueError("an object has no mask")
    from data_prep.images import masks  # and with it numpy, for those who want masks

    mask = item.mask()
    if frame.scale != (1.0, 1.0):
        mask = masks.resize(mask, frame.stored)
    mask = masks.turn(mask, frame.orientation)
    if mask.shape[::-1] != upright:
        raise ValueError(f"the mask is {size_text(mask.shape[::-1])}, the image {size_text(upright)}")
    return mask


def _features(source, image, key, objects, labels, recipe):
    """Box coordinates are shares of the image's sides."""
    features = {
        "image/height": codec.Ints([image.height]),
        "image/width": codec.Ints([image.width]),
        "image/filename": codec.Texts([source.name]),
        "image/source_id": codec.Texts([source.source_id]),
        "image/key/sha256": codec.Texts([key]),
        "image/encoded": codec.Texts([image.encoded]),
        "image/format": codec.Texts(["jpeg"]),
        "image/object/bbox/xmin": codec.Floats(item.box.xmin / image.width for item in objects),
        "image/object/bbox/xmax": codec.Floats(item.box.xmax / image.width for item in objects),
        "image/object/bbox/ymin": codec.Floats(item.box.ymin / image.height for item in objects),
        "image/object/bbox/ymax": codec.Floats(item.box.ymax / image.height for item in objects),
        "image/object/class/text": codec.Texts(item.name for item in objects),
        "image/object/class/label": labels,
    }
    if recipe.coco:
        features.update(
            {
                "image/object/is_crowd": codec.Ints(item.crowd for item in objects),
                "image/object/area": codec.Floats(item.area for item in objects),
            }
        )
    else:
        features.update(
            {
                "image/object/difficult": codec.Ints(item.difficult for item in objects),
                "image/object/truncated": codec.Ints(item.truncated for item in objects),
                "image/object/view": codec.Texts(item.pose for item in objects),
            }
        )
    if recipe.masks != "none":
        features["image/object/mask"] = _mask_feature([item.mask for item in objects], recipe.masks)
    return features


def _mask_feature(found, kind):
    from data_prep.images import masks

    if kind == "png":
        return codec.Texts(map(masks.png, found))
    return codec.PackedFloats(b"".join(map(masks.floats, found)))


def config_fields(kind: str) -> Dict[str, Any]:
    """What the input reader of a pipeline config needs for masks of this kind, as Recipe.masks."""
    if kind == "none":
        return {"load_instance_masks": False}
    return {"load_instance_masks": True, "mask_type": "PNG_MASKS" if kind == "png" else "NUMERICAL_MASKS"}
