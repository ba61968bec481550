"""Oxford-IIIT Pet (Parkhi, Vedaldi, Zisserman, Jawahar: Cats and Dogs, CVPR 2012) to TFRecords.

The split, the file names and the feature keys are those of the Object Detection API's own converter, so
configs and published results carry over. Where this one differs, it is on purpose: the picture's content
decides, not its name or the size in the annotation, and nothing is lost without a line that says so.
"""

import collections
import hashlib
import os
import random
import re
from typing import NamedTuple

from lxml import etree

from data_prep import boxes as box_rules
from data_prep import check, dataset, files, pictures, records
from data_prep.errors import DataError

# Ids 1 to 37 as in the API's pet_label_map.pbtxt.
CLASSES = ("Abyssinian", "american_bulldog", "american_pit_bull_terrier", "basset_hound", "beagle", "Bengal",
           "Birman", "Bombay", "boxer", "British_Shorthair", "chihuahua", "Egyptian_Mau",
           "english_cocker_spaniel", "english_setter", "german_shorthaired", "great_pyrenees", "havanese",
           "japanese_chin", "keeshond", "leonberger", "Maine_Coon", "miniature_pinscher", "newfoundland",
           "Persian", "pomeranian", "pug", "Ragdoll", "Russian_Blue", "saint_bernard", "samoyed",
           "scottish_terrier", "shiba_inu", "Siamese", "Sphynx", "staffordshire_bull_terrier",
           "wheaten_terrier", "yorkshire_terrier")

SHARDS = 10
# Decoders go on after an error in these two, and logs fill with warnings (tensorflow/models #2194).
DAMAGED = frozenset(("beagle_116", "chihuahua_121"))
BOXES = ("faces",)
NO_XML = "no xml: the dataset has no box for this picture"

_CONVERTER_VERSION = 1
_SPLIT_SEED = 42
_TRAIN_SHARE = 0.7
_PREFIX = {"faces": "pet_faces"}
_EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp")
_LARGEST_NUMBER = 2 ** 31 - 1
_BREED = re.compile(r"(.+)_[0-9]+$")


class Layout(NamedTuple):
    """Where things are in a folder in the dataset's layout."""

    root: str

    @property
    def images(self):
        return os.path.join(self.root, "images")

    @property
    def trainval(self):
        return os.path.join(self.root, "annotations", "trainval.txt")

    @property
    def classes_list(self):
        return os.path.join(self.root, "annotations", "list.txt")

    def xml(self, picture_id):
        return os.path.join(self.root, "annotations", "xmls", picture_id + ".xml")


class Object(NamedTuple):
    """One animal in an annotation; the box is None if the annotation gives none that can be read."""

    box: object
    difficult: int
    truncated: int
    pose: str


class Annotation(NamedTuple):
    """width and height are what the annotation claims, 0 if it claims nothing."""

    width: int
    height: int
    objects: list


def prepare(source_dir, out_dir, name="pets", classes=CLASSES, boxes="faces", shards=SHARDS, workers=None,
            max_skipped=0.02, force=False):
    """Convert source_dir, in Oxford-IIIT Pet's layout, into a prepared dataset; return its dataset.json.

    classes: names in the order of their ids. Does nothing if out_dir already holds the same dataset, unless
    force. Raises DataError if the layout is incomplete or more than max_skipped of the pictures are unusable.
    """
    with files.errors_told():
        planned = plan(source_dir, name, tuple(classes), boxes, shards)
    with files.locked(out_dir):
        ready = None if force else check.complete(out_dir, made_from=planned.fingerprint, name=name)
        return ready or dataset.write(out_dir, planned, workers, max_skipped)


def read_list(layout):
    """The picture ids in trainval.txt, in its order. Raises DataError if the layout is incomplete."""
    for path in (layout.images, layout.trainval, os.path.dirname(layout.xml("x"))):
        if not os.path.exists(path):
            raise DataError(
                "%s is not in Oxford-IIIT Pet's layout: %s is missing." % (layout.root, path),
                "Give the folder that holds images/ and annotations/, or let --download fetch the dataset.")
    try:
        with open(layout.trainval, encoding="utf-8") as file:
            ids = [line.split()[0] for line in file if line.strip() and not line.startswith("#")]
    except UnicodeDecodeError:
        raise DataError("%s is not a text file in UTF-8." % layout.trainval,
                        "Unpack annotations.tar.gz again.")
    if not ids:
        raise DataError("%s lists no picture." % layout.trainval, "Unpack annotations.tar.gz again.")
    twice = sorted(picture_id for picture_id, times in collections.Counter(ids).items() if times > 1)
    if twice:
        # Evaluation keys its pictures by id: the second of two would replace the first without a word.
        raise DataError("%s lists %s more than once." % (layout.trainval, ", ".join(twice[:5])),
                        "Remove the repeated lines: each picture needs an id of its own.")
    return ids


def split(ids):
    """The API converter's split of the list: train and validation ids, each in the order of their records."""
    shuffled = list(ids)
    random.Random(_SPLIT_SEED).shuffle(shuffled)
    train = int(_TRAIN_SHARE * len(shuffled))
    return [dataset.Split("train", shuffled[:train]), dataset.Split("val", shuffled[train:])]


def breed_of(picture_id):
    """The class of a picture, which only its name tells: `american_bulldog_12` is an american_bulldog."""
    match = _BREED.match(picture_id)
    return match.group(1) if match else picture_id


def read_annotation(path):
    """Read an annotation xml. Raises ValueError, with the reason as its text, if it is none."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    try:
        root = etree.parse(path, parser).getroot()
    except (etree.XMLSyntaxError, OSError) as error:
        raise ValueError("the xml cannot be read (%s)" % error)
    if root.tag != "annotation":
        raise ValueError("the xml holds <%s> instead of <annotation>" % root.tag)
    objects = [Object(_box(node.find("bndbox")), _whole(node, "difficult"), _whole(node, "truncated"),
                      (node.findtext("pose") or "").strip()) for node in root.findall("object")]
    return Annotation(_whole(root, "size/width"), _whole(root, "size/height"), objects)


def _box(node):
    try:
        return box_rules.Box(*(float(node.findtext(side)) for side in box_rules.Box._fields))
    except (AttributeError, TypeError, ValueError):
        return None


def _whole(node, path):
    try:
        value = int(float(node.findtext(path)))
    except (TypeError, ValueError, OverflowError):
        return 0
    return value if 0 <= value <= _LARGEST_NUMBER else 0


class FacesConverter:
    """Turn a picture id into the features of its example, with the boxes of the xml: the animals' faces."""

    def __init__(self, layout, classes, found):
        self._layout = layout
        self._ids = {name: number for number, name in enumerate(classes, 1)}
        self._found = found

    def __call__(self, picture_id):
        if not os.path.exists(self._layout.xml(picture_id)):
            return dataset.Outcome(None, skipped=NO_XML, forgiven=True)
        try:
            return self._convert(picture_id)
        except ValueError as reason:
            return dataset.Outcome(None, skipped=str(reason))

    def _convert(self, picture_id):
        annotation = read_annotation(self._layout.xml(picture_id))
        name = self._found.get(picture_id)
        if name is None:
            raise ValueError("no picture of this name in images/")
        data = _content(os.path.join(self._layout.images, name))
        picture = pictures.load(data, damaged=picture_id in DAMAGED)
        objects, notes = _usable(annotation, picture)
        if annotation.objects and not objects:
            raise ValueError("; ".join(text for kind, text in notes if kind == "rejected box"))
        breed = breed_of(picture_id)
        labels = records.Ints(self._ids[breed] for _ in objects)
        features = _features(name, picture, objects, breed, labels)
        return dataset.Outcome(features, tuple(labels), notes=tuple(notes))


def _content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ValueError("the picture file cannot be read (%s)" % error.strerror)


def _usable(annotation, picture):
    """The objects whose boxes lie in the picture, turned and clipped with it; notes on what was changed."""
    notes = [("reencoded", picture.changed)] if picture.changed else []
    stored = (picture.width, picture.height) if picture.orientation < 5 else (picture.height, picture.width)
    upright, claimed = (picture.width, picture.height), (annotation.width, annotation.height)
    # Boxes drawn on the upright picture are left alone; those drawn on the stored one turn with it.
    turned = picture.orientation > 1 and (claimed == stored or claimed != upright)
    if claimed not in (stored, upright):
        notes.append(("other size", "the xml says %dx%d, the picture is %dx%d" % (claimed + upright)))
    usable = []
    for item in annotation.objects:
        try:
            if item.box is None:
                raise ValueError("an object has no box that can be read")
            box = box_rules.turn(item.box, picture.orientation, *stored) if turned else item.box
            box, clipped = box_rules.fit(box, picture.width, picture.height)
        except ValueError as reason:
            notes.append(("rejected box", str(reason)))
            continue
        if clipped:
            notes.append(("clipped box", "up to one pixel outside of the %dx%d picture" % upright))
        usable.append(item._replace(box=box))
    return usable, notes


def _features(name, picture, objects, breed, labels):
    """The features of one example, with the API's keys; box coordinates are shares of the picture's sides."""
    return {
        "image/height": records.Ints([picture.height]),
        "image/width": records.Ints([picture.width]),
        "image/filename": records.Texts([name]),
        "image/source_id": records.Texts([name]),
        "image/key/sha256": records.Texts([hashlib.sha256(picture.encoded).hexdigest()]),
        "image/encoded": records.Texts([picture.encoded]),
        "image/format": records.Texts(["jpeg"]),
        "image/object/bbox/xmin": records.Floats(item.box.xmin / picture.width for item in objects),
        "image/object/bbox/xmax": records.Floats(item.box.xmax / picture.width for item in objects),
        "image/object/bbox/ymin": records.Floats(item.box.ymin / picture.height for item in objects),
        "image/object/bbox/ymax": records.Floats(item.box.ymax / picture.height for item in objects),
        "image/object/class/text": records.Texts(breed for _ in objects),
        "image/object/class/label": labels,
        "image/object/difficult": records.Ints(item.difficult for item in objects),
        "image/object/truncated": records.Ints(item.truncated for item in objects),
        "image/object/view": records.Texts(item.pose for item in objects),
    }


def plan(source_dir, name, classes, boxes, shards):
    """The dataset.Plan of converting source_dir. Raises DataError if the layout or a class name is wrong."""
    layout = Layout(source_dir)
    ids = read_list(layout)
    unknown = sorted({breed_of(picture_id) for picture_id in ids} - set(classes))
    if unknown:
        raise DataError("%s names classes that the label map does not have: %s." % (
            layout.trainval, ", ".join(unknown[:5])),
            "Pictures are named <class>_<number>; the classes are %s." % _some(classes))
    found = _find_pictures(layout)
    return dataset.Plan(
        name=name, classes=classes, prefix=_PREFIX[boxes], splits=split(ids),
        convert=FacesConverter(layout, classes, found), shards=shards,
        fingerprint={"converter": _CONVERTER_VERSION, "boxes": boxes, "shards": shards, "pictures": len(ids),
                     "source_sha256": _source_sha256(layout, ids, found)},
        extra={"boxes": boxes, "masks": None, "shards": shards})


def _some(names):
    return ", ".join(names[:4]) + (" and %d more" % (len(names) - 4) if len(names) > 4 else "")


def _find_pictures(layout):
    """{id: file name} of what may be a picture; where two share a stem, the first of _EXTENSIONS wins."""
    found = {}
    for name in os.listdir(layout.images):
        stem, extension = os.path.splitext(name)
        if not name.startswith(".") and extension.lower() in _EXTENSIONS:
            best = found.get(stem)
            if best is None or _rank(name) < _rank(best):
                found[stem] = name
    return found


def _rank(name):
    return _EXTENSIONS.index(os.path.splitext(name)[1].lower()), name


def _source_sha256(layout, ids, found):
    """A hash of the list, of every annotation, and of the name and size of every picture.

    The pictures themselves are not read: that would take longer than some conversions. --force is for a
    picture that was edited and kept its size to the byte.
    """
    digest = hashlib.sha256()
    for picture_id in ids:
        name = found.get(picture_id, "")
        path = os.path.join(layout.images, name)
        size = os.path.getsize(path) if name and os.path.exists(path) else -1
        digest.update(("%s\n%s\n%d\n" % (picture_id, name, size)).encode("utf-8"))
        try:
            with open(layout.xml(picture_id), "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        except OSError:
            digest.update(b"-")
    return digest.hexdigest()
