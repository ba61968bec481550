"""Oxford-IIIT Pet (Parkhi, Vedaldi, Zisserman, Jawahar: Cats and Dogs, CVPR 2012) to TFRecords.

The split, the file names and the feature keys are those of the Object Detection API's own converter, so
configs and published results carry over. Where this one differs, it is on purpose: the image's content
decides, not its name or the size in the annotation, and nothing is lost without a line that says so.
"""

import collections
import hashlib
import importlib
import io
import os
import re
import warnings
from argparse import ArgumentParser
from typing import Dict, List, NamedTuple, Optional, Sequence

from PIL import Image

from common import files
from common.errors import DataError, UsageError
from data_prep.images import example_features, normalize
from data_prep.source import arguments
from data_prep.source.annotation import Annotation, read_xml
from data_prep.source.class_names import ids_of, refuse_unknown
from data_prep.source.image_index import ImageIndex, fingerprint_of
from data_prep.source.splits import Choice
from data_prep.wording import first_line
from data_prep.writer import dataset

# Ids 1 to 37 as in the API's pet_label_map.pbtxt.
CLASSES = (
    "Abyssinian",
    "american_bulldog",
    "american_pit_bull_terrier",
    "basset_hound",
    "beagle",
    "Bengal",
    "Birman",
    "Bombay",
    "boxer",
    "British_Shorthair",
    "chihuahua",
    "Egyptian_Mau",
    "english_cocker_spaniel",
    "english_setter",
    "german_shorthaired",
    "great_pyrenees",
    "havanese",
    "japanese_chin",
    "keeshond",
    "leonberger",
    "Maine_Coon",
    "miniature_pinscher",
    "newfoundland",
    "Persian",
    "pomeranian",
    "pug",
    "Ragdoll",
    "Russian_Blue",
    "saint_bernard",
    "samoyed",
    "scottish_terrier",
    "shiba_inu",
    "Siamese",
    "Sphynx",
    "staffordshire_bull_terrier",
    "wheaten_terrier",
    "yorkshire_terrier",
)

# Decoders go on after an error in these two, and logs fill with warnings (tensorflow/models #2194).
DAMAGED = frozenset(("beagle_116", "chihuahua_121"))
BOXES = ("faces", "body")
NO_XML = "no xml: the dataset has no box for this image"

_CONVERTER_VERSION = 2
# In a trimap 1 is the pet, 2 the background, 3 a border between them that the API's converter counts to the pet.
_BACKGROUND = 2
_BREED = re.compile(r"(.+)_[0-9]+$")


class Layout(NamedTuple):
    """Where things are in a folder in the dataset's layout."""

    root: str

    @property
    def images(self) -> str:
        return os.path.join(self.root, "images")

    @property
    def trainval(self) -> str:
        return os.path.join(self.root, "annotations", "trainval.txt")

    @property
    def test(self) -> str:
        return os.path.join(self.root, "annotations", "test.txt")

    def xml(self, image_id: str) -> str:
        return os.path.join(self.root, "annotations", "xmls", image_id + ".xml")

    def trimap(self, image_id: str) -> str:
        return os.path.join(self.root, "annotations", "trimaps", image_id + ".png")


class Options(NamedTuple):
    """boxes: "faces" (those of the xml) or "body" (around the trimap). masks: arguments.MASKS, with body only.

    shards: None for dataset.SHARDS.
    """

    boxes: str = "faces"
    masks: str = "none"
    shards: Optional[int] = None
    split: Choice = Choice()


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep pets`."""
    parser.add_argument("--source", metavar="DIR", help="a folder with images/ and annotations/ (default: OUT/raw)")
    parser.add_argument(
        "--download",
        action="store_true",
        help="fetch the dataset into OUT/raw first (811 MB; goes on where it was cut off)",
    )
    parser.add_argument(
        "--boxes",
        choices=BOXES,
        default="faces",
        help="what the boxes enclose; body takes them from the trimaps (default: faces)",
    )
    arguments.add_masks(parser, "with --boxes body: ")
    arguments.add_split(parser, "upstream is the API's: seed 42, 0.3 validate (default)")


def fetch(folder: str) -> None:
    """Downloads the dataset into folder.

    Raises:
        DataError: the network or the disk is not as needed.
    """
    from common import download  # and with it requests, for those who download

    download.fetch_pets(folder)


def read_list(layout: Layout) -> List[str]:
    """The image ids in trainval.txt, in its order.

    Raises:
        DataError: the layout is incomplete.
    """
    for path in (layout.images, layout.trainval, os.path.dirname(layout.xml("x"))):
        if not os.path.exists(path):
            raise DataError(
                f"{layout.root} is not in Oxford-IIIT Pet's layout: {path} is missing.",
                "Give the folder that holds images/ and annotations/, or let --download fetch the dataset.",
            )
    ids = _listed(layout.trainval)
    if not ids:
        raise DataError(f"{layout.trainval} lists no image.", "Unpack annotations.tar.gz again.")
    twice = sorted(image_id for image_id, times in collections.Counter(ids).items() if times > 1)
    if twice:
        # Evaluation keys its images by id: the second of two would replace the first without a word.
        raise DataError(
            f"{layout.trainval} lists {', '.join(twice[:5])} more than once.",
            "Remove the repeated lines: each image needs an id of its own.",
        )
    return ids


def _listed(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [line.split()[0] for line in file if line.strip() and not line.startswith("#")]
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not a text file in UTF-8.", "Unpack annotations.tar.gz again.") from error


def breed_of(image_id: str) -> str:
    """The class of an image, which only its name tells: `american_bulldog_12` is an american_bulldog."""
    match = _BREED.match(image_id)
    return match.group(1) if match else image_id


class Converter:
    """Turn an image id into an Outcome: with the boxes of the xml, or with those around the trimap."""

    def __init__(
        self, layout: Layout, options: Options, recipe: example_features.Recipe, index: ImageIndex, one_pet_each: bool
    ):
        self._layout = layout
        self._body = options.boxes == "body"
        self._recipe = recipe
        self._index = index
        self._one_pet_each = one_pet_each

    def __call__(self, image_id: str) -> dataset.Outcome:
        if not os.path.exists(self._layout.xml(image_id)):
            return dataset.Outcome(None, skipped=NO_XML, forgiven=True)
        try:
            return self._convert(image_id)
        except ValueError as reason:
            return dataset.Outcome(None, skipped=str(reason))

    def _convert(self, image_id):
        breed = breed_of(image_id)
        annotation = read_xml(self._layout.xml(image_id))
        name = self._index.find(image_id)
        data = example_features.read_file(os.path.join(self._layout.images, name))
        # The xml calls a pet cat or dog; its breed is in the file's name.
        annotation = annotation._replace(objects=[item._replace(name=breed) for item in annotation.objects])
        several = len(annotation.objects) > 1
        if self._body and annotation.objects:
            annotation = _body(annotation, self._layout.trimap(image_id))
        source = example_features.Source(name, name, data, image_id in DAMAGED)
        outcome = example_features.convert(source, annotation, self._recipe)
        if several and self._body:
            return _noted(outcome, "one trimap for all, so one box and one mask around them")
        if len(outcome.labels) > 1 and self._one_pet_each:
            return _noted(outcome, "each has a box, and the class of the file's name")
        return outcome


def _noted(outcome, text):
    return outcome._replace(notes=outcome.notes + (("several pets", text),))


def _body(annotation, trimap_path):
    """The annotation with one object, around what the trimap marks. Raises ValueError if it marks nothing."""
    mask = _read_trimap(trimap_path)
    from data_prep.images import masks  # and with it numpy, for those who want bodies

    extent = masks.extent(mask)
    if extent is None:
        raise ValueError("the trimap marks no pet")
    height, width = mask.shape
    return Annotation(width, height, [annotation.objects[0]._replace(box=extent, mask=lambda: mask)])


def _read_trimap(path):
    data = example_features.read_file(path) if os.path.exists(path) else None
    if data is None:
        raise ValueError("no trimap, from which the body's box would come")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            trimap = Image.open(io.BytesIO(data))
            trimap.load()
    # Pillow raises nearly every built-in exception on damaged files; each means: not usable.
    except Exception as error:
        raise ValueError(f"the trimap cannot be decoded ({first_line(error, normalize.UNKNOWN)})") from error
    if trimap.mode not in ("L", "P"):
        raise ValueError(f"the trimap is an image of mode {trimap.mode}, not one number a pixel")
    from data_prep.images import masks

    return masks.array(trimap) != _BACKGROUND  # of a palette the indices count, not the colours


def plan(
    source_dir: str, name: str, options: Options, classes: Sequence[str] = CLASSES, one_pet_each: bool = True
) -> dataset.Plan:
    """The Plan of converting a folder in the dataset's layout.

    Args:
        source_dir: that folder.
        name: of the dataset.
        options: what boxes, masks, shards and split.
        classes: names in the order of their ids.
        one_pet_each: an image with several is listed among the changed ones.

    Raises:
        UsageError: the options contradict each other.
        DataError: the layout or a class name is wrong.
    """
    if options.masks != "none" and options.boxes != "body":
        raise UsageError(
            f"--masks {options.masks} needs --boxes body: the trimap marks the body, and no face.",
            "Add --boxes body, or leave out --masks.",
        )
    layout = Layout(source_dir)
    ids = read_list(layout)
    refuse_unknown({breed_of(image_id) for image_id in ids}, classes, layout.trainval)
    if options.boxes == "body":
        importlib.import_module("data_prep.images.masks")  # here, so that the processes that convert share one numpy
    index = ImageIndex(layout.images)
    recipe = example_features.Recipe(ids_of(classes), options.masks, any_size=True)
    upstream = options.split.upstream is not False
    shards = options.shards or dataset.SHARDS
    chosen = {"boxes": options.boxes, "masks": options.masks, "shards": shards}
    chosen.update(options.split.options(upstream))
    return dataset.Plan(
        name=name,
        classes=classes,
        prefix=_prefix(options),
        splits=options.split.by_seed(ids),
        convert=Converter(layout, options, recipe, index, one_pet_each),
        shards=shards,
        fingerprint=dict(
            chosen,
            converter=_CONVERTER_VERSION,
            pictures=len(ids),
            source_sha256=_source_sha256(layout, ids, index, options),
        ),
        extra={"boxes": options.boxes, "masks": None if options.masks == "none" else options.masks, "shards": shards},
        command=("pets", dict({"source": source_dir}, **chosen)),
        config=example_features.config_fields(options.masks),
        classes_are_given=True,
        unused=_unused(layout, ids, index),
    )


def _prefix(options):
    """The API's names of record files."""
    if options.boxes == "faces":
        return "pet_faces"
    return "pets_fullbody" if options.masks == "none" else "pets_fullbody_with_masks"


def _unused(layout, ids, index):
    """What lies among the images and is not converted: the test set, what no list names, what is no image."""
    listed = set(ids)
    test = set(_listed(layout.test)) if os.path.exists(layout.test) else set()
    rest = {stem: names[0] for stem, names in index.items() if stem not in listed}
    kinds = {stem: normalize.sniff_file(os.path.join(layout.images, name)) for stem, name in rest.items()}
    groups: Dict[str, List[str]] = collections.OrderedDict()
    for stem in rest:
        where = "in test.txt, for whose images the dataset has no boxes" if stem in test else "in no list"
        kind = kinds[stem]
        inside = "" if kind == "JPEG" else f"; {kind} inside" if kind else "; not an image inside"
        groups.setdefault(where + inside, []).append(rest[stem])
    groups["not an image"] = index.ignored()
    return [dataset.Unused(names, reason) for reason, names in groups.items()]


def _source_sha256(layout, ids, index, options):
    """A hash of the list, of every annotation, and of the name and size of every image and trimap used.

    The images themselves are not read: that would take longer than some conversions. --force is for a
    image that was edited and kept its size to the byte.
    """
    digest = hashlib.sha256()
    for image_id in ids:
        try:
            name = index.find(image_id)
        except ValueError as reason:
            name = fingerprint_of(reason)
        paths = [os.path.join(layout.images, name)]
        if options.boxes == "body":
            paths.append(layout.trimap(image_id))
        digest.update((f"{image_id}\n{name}\n{' '.join(map(_size, paths))}\n").encode("utf-8"))
        try:
            digest.update(hashlib.sha256(files.read(layout.xml(image_id))).digest())
        except OSError:
            digest.update(b"-")
    return digest.hexdigest()


def _size(path):
    try:
        return str(os.path.getsize(path))
    except OSError:
        return "-"
