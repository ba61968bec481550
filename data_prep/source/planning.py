"""From what a format read to the Plan of a conversion: images, classes, splits, and what is told of the rest."""

import hashlib
import os
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from common.errors import DataError
from data_prep.images import example_features, frame, normalize
from data_prep.source import matching, merging, splits, units
from data_prep.source.class_names import ids_of, refuse_unknown
from data_prep.source.class_names import read as read_label_map
from data_prep.source.image_index import ImageIndex
from data_prep.source.matching import Match
from data_prep.source.reading import Reading, load
from data_prep.writer import dataset

# Higher where the same source gives other records than before: what was converted then is converted anew.
_VERSION = 2


class Options(NamedTuple):
    """What all formats can be told; a format with more has these fields, too.

    label_map: a file, or None for the names in the data. shards: None for dataset.shards_for. masks: of
    data_prep.source.arguments.MASKS. exif: of frame.of, or None. coordinates: of frame.UNITS, or None for what the
    format says.
    """

    label_map: Optional[str] = None
    shards: Optional[int] = None
    split: splits.Choice = splits.Choice()
    masks: str = "none"
    exif: Optional[str] = None
    coordinates: Optional[str] = None


class Kind(NamedTuple):
    """name: of the format. prefix: of its record files. coco: it has the features of the API's COCO converter."""

    name: str
    prefix: str
    coco: bool = False


class Converter:
    """Turns an entry's id into an Outcome."""

    def __init__(self, root: str, matches: Mapping[str, Match], recipe: example_features.Recipe, exif: "Exif"):
        self._root, self._matches, self._recipe, self._exif = root, matches, recipe, exif

    def __call__(self, entry_id: str) -> dataset.Outcome:
        match = self._matches[entry_id]
        try:
            outcome = self._convert(entry_id, match)
        except ValueError as reason:
            outcome = dataset.Outcome(None, skipped=str(reason))
        notes = tuple(("unusual annotation", note) for note in (match.note, match.entry.note) if note)
        outcome = outcome._replace(notes=outcome.notes + notes)
        return outcome._replace(file=match.image or match.entry.name) if match.entry.id else outcome

    def _convert(self, entry_id, match):
        if match.image is None:
            raise ValueError(match.problem)
        annotation = load(match.entry)
        data = example_features.read_file(os.path.join(self._root, match.image))
        name = match.entry.name if match.entry.id else match.image
        source = example_features.Source(name, entry_id, data, exif=lambda: self._exif.of_group(match.entry.group))
        return example_features.convert(source, annotation, self._recipe)


class Exif:
    """How boxes were drawn on images with an Exif orientation, by group.

    An option decides; else the sizes that the group states of images on their side; else what its tool is known for.
    The files are looked at when the first image needs it.
    """

    def __init__(self, root: str, matches: Sequence[Match], option: Optional[str], known: Mapping[str, str]):
        self._root, self._matches, self._option, self._known = root, matches, option, known
        self._found: Dict[str, str] = {}

    def of_group(self, group: str) -> str:
        """frame.UPRIGHT, frame.STORED, or "" where it is not known."""
        if self._option:
            return self._option
        if group not in self._found:
            self._found[group] = self._stated(group) or self._known.get(group, "")
        return self._found[group]

    def _stated(self, group):
        """What the sizes say; "" where they contradict each other, too."""
        said = set()
        for match in self._matches:
            if match.image and match.entry.group == group and all(match.entry.size):
                stored = normalize.size_on_its_side(os.path.join(self._root, match.image))
                said.add(frame.evidence(match.entry.size, stored) if stored else "")
        said.discard("")
        return said.pop() if len(said) == 1 else ""


def plan(source_dir: str, name: str, reading: Reading, options: Any, kind: Kind) -> dataset.Plan:
    """The Plan of converting what was read.

    Args:
        source_dir: the folder that names are relative to.
        name: of the dataset.
        reading: of the format.
        options: Options, or what has its fields.
        kind: of the format.

    Raises:
        UsageError: the options make no sense.
        DataError: there are unknown classes, no image to convert, or two readings of coordinates or splits.
    """
    reading = units.decided(reading, options.coordinates, source_dir)
    root = reading.root or source_dir
    index = ImageIndex(root)
    matches = merging.one_each(matching.match(reading.entries, index))
    by_id = _by_id(matches)
    classes = _classes(reading, options.label_map, source_dir)
    decision = splits.decide({one: _split(match) for one, match in by_id.items()}, options.split, source_dir)
    shards = options.shards or dataset.shards_for(decision.splits)
    chosen = dict(_chosen(options, kind), shards=shards, **options.split.options(decision.upstream))
    exif = Exif(root, matches, options.exif, reading.exif)
    recipe = example_features.Recipe(ids_of(classes), options.masks, kind.coco)
    return dataset.Plan(
        name=name,
        classes=classes,
        prefix=kind.prefix,
        splits=decision.splits,
        convert=Converter(root, by_id, recipe, exif),
        shards=shards,
        fingerprint=dict(
            chosen,
            format=kind.name,
            converter=_VERSION,
            classes=list(classes),
            splits=[[split.name, len(split.ids)] for split in decision.splits],
            source_sha256=_digest(reading, by_id, root),
        ),
        extra=dict(
            {"boxes": "annotated", "masks": None if options.masks == "none" else options.masks, "shards": shards},
            **reading.extra,
        ),
        command=(kind.name, dict({"source": source_dir}, **chosen)),
        config=example_features.config_fields(options.masks),
        unused=_unused(decision.left_out, matches, index, reading),
        problems=list(reading.problems),
        lines=[decision.line],
    )


def _unused(left_out, matches, index, reading):
    used = {match.image or match.refused or "" for match in matches}
    return [
        dataset.Unused(left_out, "in none of the splits"),
        dataset.Unused(index.unused(used), "no annotation"),
        dataset.Unused(sorted(reading.foreign), "no annotation of this format"),
    ]


def _by_id(matches) -> Dict[str, Match]:
    """{id: Match}: the source's own id, else the image's path, else where the annotation stands."""
    found: Dict[str, Match] = {}
    for match in matches:
        wanted = match.entry.id or match.image or match.entry.where
        number, entry_id = 1, wanted
        while entry_id in found:
            number += 1
            entry_id = f"{wanted} ({number})"
        found[entry_id] = match
    if not found:
        raise DataError(
            "There is no annotation of an image in it.", "Name the folder that holds annotations and images."
        )
    return found


def _split(match) -> str:
    entry = match.entry
    return entry.split or splits.of_folders(match.image or entry.name) or splits.of_folders(entry.folder + "/")


def _classes(reading: Reading, label_map: Optional[str], where: str) -> Tuple[str, ...]:
    """The names of the map; else those that the source states, else those in the data, sorted by code point."""
    found = {name for entry in reading.entries for name in entry.classes} - {""}
    if label_map is not None:
        classes = read_label_map(label_map)
    elif reading.classes:
        classes = tuple(reading.classes)
    elif found:
        classes = tuple(sorted(found))
    else:
        raise DataError(
            f"No annotation in {where} has an object with a name.",
            "Label some objects, or name the classes with --label-map.",
        )
    refuse_unknown(found, classes, where)
    return classes


def _chosen(options: Any, kind: Kind) -> Dict[str, Any]:
    """The options that change a byte of the result."""
    fields = getattr(options, "_fields", ())
    own = {
        name: getattr(options, name) for name in fields if name in Options._fields and name not in ("split", "shards")
    }
    if own.get("masks") == "none" and not kind.coco:
        del own["masks"]
    return own


def _digest(reading: Reading, by_id: Mapping[str, Match], root: str) -> str:
    """A checksum of the annotations, of which image each means, and of the images' sizes in bytes."""
    digest = hashlib.sha256(reading.digest.encode("utf-8"))
    for entry_id in sorted(by_id):
        match = by_id[entry_id]
        size = os.path.getsize(os.path.join(root, match.image)) if match.image else match.problem
        digest.update(f"{entry_id} {match.image} {size}\n".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
