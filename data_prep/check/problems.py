"""What `check` finds: every kind with its sentence and its remedy, counted, with the first few places."""

import collections
import os
from typing import Any, Counter, DefaultDict, Dict, List, NamedTuple, Optional, Tuple

from common.text import printable

ERROR, WARNING = "error", "warning"
PLACES_KEPT = 20
_PLACES_SHOWN = 3


class Kind(NamedTuple):
    """severity: an ERROR spoils or ends a training, a WARNING may be meant so. what, do: a sentence each."""

    severity: str
    what: str
    do: str


class Place(NamedTuple):
    """Where something was found; offset: byte at which the record begins; id: the image's source_id."""

    file: Optional[str]
    offset: Optional[int] = None
    id: str = ""
    detail: str = ""


_COPY = "Copy the file again from where it is whole, or convert the dataset again."
_REPAIR_BOXES = "Correct these boxes in the annotations and convert again; data_prep rejects and lists them."

KINDS = collections.OrderedDict(
    (
        ("unreadable", Kind(ERROR, "A file cannot be read.", "Correct its permissions, or copy it again.")),
        (
            "description",
            Kind(
                ERROR,
                "The dataset is not what its dataset.json says.",
                "Prepare it again (--force), or restore the file named here.",
            ),
        ),
        (
            "empty-file",
            Kind(
                ERROR,
                "A file holds no record; training gets no batch from it and no error.",
                "Delete it, or convert again with fewer shards.",
            ),
        ),
        (
            "foreign-file",
            Kind(
                ERROR,
                "A file is no TFRecord file.",
                "Name only TFRecords here and in input_path, or write it as TFRecords first.",
            ),
        ),
        ("missing-shard", Kind(ERROR, "Shards of a set are missing.", "Copy the missing files, or convert again.")),
        (  # The three damages of data_prep.tfrecord.tolerant_reader.
            "cut-off",
            Kind(ERROR, "A file ends inside a record.", _COPY),
        ),
        ("checksum", Kind(ERROR, "The checksum of a record does not match; training stops there.", _COPY)),
        ("broken-length", Kind(ERROR, "The length of a record is damaged; nothing after it can be read.", _COPY)),
        (
            "not-an-example",
            Kind(
                ERROR,
                "A record is no tf.train.Example.",
                "Write tf.train.Example messages, as the API's converters do.",
            ),
        ),
        ("label-map", Kind(ERROR, "The label map cannot be used.", "Correct the label map named here.")),
        (
            "num-classes",
            Kind(
                ERROR,
                "num_classes and the label map do not agree.",
                "Set num_classes to the largest id of the label map.",
            ),
        ),
        (
            "wrong-type",
            Kind(
                ERROR,
                "A feature has another type or number of values than the API reads; training ends.",
                "Write it as named here.",
            ),
        ),
        (
            "no-image",
            Kind(ERROR, "A record has no image (image/encoded).", "Write the image file's bytes into image/encoded."),
        ),
        (
            "list-lengths",
            Kind(
                ERROR,
                "The lists of a record's objects have different lengths.",
                "Write one value an object into each list, and convert again.",
            ),
        ),
        (
            "image-format",
            Kind(
                ERROR,
                "An image is neither JPEG, PNG nor BMP; the API fails on it.",
                "Convert again with data_prep, which makes JPEGs of all images.",
            ),
        ),
        ("image-broken", Kind(ERROR, "An image cannot be decoded.", "Replace or remove the image and convert again.")),
        (
            "size-differs",
            Kind(
                WARNING,
                "image/width and image/height are not the image's size.",
                "If the boxes were divided by that size they are wrong: convert again with the decoded size.",
            ),
        ),
        (
            "image-turned",
            Kind(
                WARNING,
                "Exif says to turn the image, which the API does not do.",
                "Look at the boxes with `show`; convert again with upright images.",
            ),
        ),
        (
            "box-not-finite",
            Kind(ERROR, "A box has a coordinate that is no number; the API drops it without a word.", _REPAIR_BOXES),
        ),
        (
            "box-in-pixels",
            Kind(
                ERROR,
                "A box is given in pixels instead of shares of the image's sides (0 to 1).",
                "Divide x by the image's width and y by its height, and convert again.",
            ),
        ),
        ("box-outside", Kind(ERROR, "A box reaches outside of its image.", _REPAIR_BOXES)),
        (
            "box-inverted",
            Kind(
                ERROR, "A box is empty or ends before it begins; the API stops there or learns nothing.", _REPAIR_BOXES
            ),
        ),
        (
            "class-missing",
            Kind(
                ERROR,
                "Objects have neither a class id nor a class text.",
                "Write image/object/class/label (ids from 1), and convert again.",
            ),
        ),
        (
            "class-id",
            Kind(
                ERROR,
                "A class id is outside of 1 to num_classes, or not in the label map.",
                "Correct the ids, or num_classes and the label map; ids count from 1.",
            ),
        ),
        (
            "class-text",
            Kind(
                ERROR,
                "A class text is not in the label map; the API drops the box without a word.",
                "Add the class to the label map, or correct the name in the annotations.",
            ),
        ),
        (
            "text-and-id",
            Kind(
                ERROR,
                "Class texts and ids disagree; with a label map the API takes the text.",
                "Convert again with the label map that training uses.",
            ),
        ),
        (
            "no-id",
            Kind(
                ERROR,
                "Records have no image/source_id; evaluation takes them for one and the same image.",
                "Write a unique text, such as the file name, into image/source_id.",
            ),
        ),
        (
            "same-id",
            Kind(
                ERROR,
                "Images of a split share an image/source_id; evaluation counts them as one.",
                "Make the ids unique, for instance by the folder's name, and convert again.",
            ),
        ),
        (
            "id-in-two-splits",
            Kind(
                WARNING,
                "An image/source_id is in more than one split.",
                "Make sure that these are different images, and none is evaluated on after training.",
            ),
        ),
        (
            "image-in-two-splits",
            Kind(
                WARNING,
                "The same image is in more than one split.",
                "Remove it from one: what was trained on proves nothing in evaluation.",
            ),
        ),
        (
            "same-image",
            Kind(
                WARNING,
                "The same image is in a split more than once.",
                "Remove the repetition, unless it is meant to weigh more.",
            ),
        ),
        (
            "mask-count",
            Kind(
                ERROR,
                "A record has another number of masks than of boxes.",
                "Write one mask a box, of the image's size, and convert again.",
            ),
        ),
        (
            "mask-kind",
            Kind(
                ERROR,
                "Masks are not of one kind in all records.",
                "Convert all shards with the same mask type (--masks of the converter).",
            ),
        ),
        (
            "mask-broken",
            Kind(
                ERROR,
                "A mask cannot be decoded or is of another size than its image.",
                "Draw the mask on the image as it is stored, and convert again.",
            ),
        ),
        (
            "config-masks",
            Kind(
                ERROR,
                "The config loads masks that the records do not have.",
                "Set load_instance_masks and mask_type in both input readers as the records are.",
            ),
        ),
        (
            "many-boxes",
            Kind(
                WARNING,
                "An image has more boxes than max_number_of_boxes; the rest is cut off.",
                "Set max_number_of_boxes in both input readers to the largest number.",
            ),
        ),
        (
            "split-without-boxes",
            Kind(WARNING, "No image of a split has a box.", "Annotate some of its images, or choose another split."),
        ),
        (
            "class-in-one-split",
            Kind(
                WARNING,
                "A class is in some of the splits alone.",
                "Choose another split (--seed), or add images of it: what does not train is not found, and what does "
                "not validate is not measured.",
            ),
        ),
        (
            "many-detections",
            Kind(
                WARNING,
                "An image has more boxes than max_total_detections; the model can never find them all.",
                "Set max_total_detections and max_detections_per_class in the config above the fullest image.",
            ),
        ),
        (
            "no-anchor",
            Kind(
                WARNING,
                "The model's anchors do not fit the boxes of a class; little of it is learned.",
                "Give the config scales and aspect ratios like the boxes', or a larger input size.",
            ),
        ),
        ("no-boxes", Kind(ERROR, "No image has a box.", "Look at how the annotations are read, and convert again.")),
        (
            "class-without-box",
            Kind(WARNING, "A class of the label map has no box.", "Remove the class, or add images of it."),
        ),
        (
            "small-box",
            Kind(
                WARNING,
                "A box is smaller than 8 px once its image is resized to the model's input.",
                "Use a larger input size, or cut the images into tiles.",
            ),
        ),
    )
)


class Findings:
    """Counts findings; memory does not grow with their number."""

    def __init__(self) -> None:
        self._counts: Counter[str] = collections.Counter()
        self._places: DefaultDict[str, List[Place]] = collections.defaultdict(list)

    def add(self, kind: str, place: Place, count: int = 1) -> None:
        """Count a finding.

        Args:
            kind: a key of KINDS.
            place: where it is.
            count: how many times it occurs at this place.
        """
        self._counts[kind] += count
        if len(self._places[kind]) < PLACES_KEPT:
            self._places[kind].append(place)

    def count(self, kind: str) -> int:
        return self._counts[kind]

    def first(self, kind: str) -> Place:
        """Where a kind that was found is first."""
        return self._places[kind][0]

    def full(self, kind: str) -> bool:
        """No more places of this kind are kept, so that finding out one more would be in vain."""
        return len(self._places[kind]) >= PLACES_KEPT

    def kinds(self, severity: str) -> List[str]:
        """The kinds found, in the order of KINDS."""
        return [kind for kind in KINDS if self._counts[kind] and KINDS[kind].severity == severity]

    def total(self, severity: str) -> int:
        return sum(self._counts[kind] for kind in self.kinds(severity))

    def as_json(self) -> List[Dict[str, Any]]:
        """A list, errors first, for `check --json`."""
        return [
            {
                "kind": kind,
                "severity": severity,
                "count": self._counts[kind],
                "what": KINDS[kind].what,
                "do": KINDS[kind].do,
                "places": [
                    {"file": place.file, "byte": place.offset, "id": place.id, "detail": place.detail}
                    for place in self._places[kind]
                ],
            }
            for severity in (ERROR, WARNING)
            for kind in self.kinds(severity)
        ]

    def rows(self, folder: str = "") -> List[Tuple[Kind, int, str]]:
        """[(Kind, count, first places as text)], errors first, for a table; files below folder without it."""
        return [
            (KINDS[kind], self._counts[kind], self._places_text(kind, folder))
            for severity in (ERROR, WARNING)
            for kind in self.kinds(severity)
        ]

    def _places_text(self, kind, folder):
        places = self._places[kind]
        lines = [place_text(place, folder) for place in places[:_PLACES_SHOWN]]
        if len(places) > _PLACES_SHOWN:
            lines.append(f"and {self._counts[kind] - _PLACES_SHOWN} more")
        return "\n".join(lines)


def sentence(kind: str, detail: str = "") -> str:
    """What is wrong, with its detail."""
    what = KINDS[kind].what.rstrip(".")
    return f"{what} ({detail})." if detail else f"{what}."


def place_text(place: Place, folder: str = "") -> str:
    """file @ byte: id: detail, without what is not known; files below folder without it."""
    at = "" if place.offset is None else f" @ byte {place.offset}"
    name = place.file or ""
    if folder and name.startswith(folder + os.sep):
        name = name[len(folder) + 1 :]
    return ": ".join(printable(part) for part in (name + at, place.id, place.detail) if part)
