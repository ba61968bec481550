"""The thorough check: every byte of every record of any TFRecord files, in one pass and flat memory."""

import collections
import hashlib
import os
from typing import Any, Counter, Dict, List, NamedTuple, Optional, Sequence, Tuple

from common import files
from common.errors import UsageError
from common.progress import Progress
from common.text import counted
from data_prep.check import inputs, model_input, quick
from data_prep.check.anchor_shares import AnchorShares
from data_prep.check.duplicates import Identities
from data_prep.check.problems import ERROR, WARNING, Findings, Place
from data_prep.tfrecord import example_rules, tolerant_reader
from data_prep.writer import balance

SMALL_LIMITS = (4, example_rules.SMALL_PIXELS, 16, 32)
_NAMES_KEPT = 10000  # different class names or ids that are counted; a broken file may hold any number
_WORDS = {example_rules.BYTES: "png", example_rules.FLOATS: "numerical", example_rules.INTS: "int64", None: "none"}


class Options(NamedTuple):
    """What the command line says; None where it says nothing.

    decode: images to decode, None for all. describe: the Report has what a dataset.json says of each file and of sizes.
    """

    label_map: Optional[str] = None
    num_classes: Optional[int] = None
    config: Optional[model_input.Facts] = None
    resize: Optional[example_rules.Resize] = None
    decode: Optional[int] = 100
    describe: bool = False


class SplitCount:
    """What a split holds."""

    def __init__(self) -> None:
        self.files = self.records = self.boxes = self.without_boxes = 0
        # as stated: (smallest width, largest width, smallest height, largest height)
        self.sizes: Optional[Tuple[int, int, int, int]] = None
        self.most_boxes = 0
        self.classes: Counter[Any] = collections.Counter()  # as _Scan._classes
        self.shards: List[Dict[str, Any]] = []  # with Options.describe: path, sha256, bytes, examples of each file
        self.picture_sizes: Counter[Tuple[int, ...]] = collections.Counter()  # likewise, of (width, height)

    def see_size(self, width: int, height: int) -> None:
        low_w, high_w, low_h, high_h = self.sizes or (width, width, height, height)
        self.sizes = (min(low_w, width), max(high_w, width), min(low_h, height), max(high_h, height))


class Report(NamedTuple):
    """What a scan found. splits: {name: SplitCount}; classes: {name: boxes}; small: {limit: boxes under it}.

    masks: the kinds that records with boxes have ("png", "numerical", "none").
    """

    findings: Findings
    splits: Dict[str, SplitCount]
    classes: Dict[str, int]
    decoded: int
    small: Dict[int, int]
    notes: List[str]
    masks: Sequence[str] = ()

    @property
    def records(self) -> int:
        return sum(split.records for split in self.splits.values())

    @property
    def fit(self) -> bool:
        return not self.findings.total(ERROR)

    def as_json(self) -> Dict[str, Any]:
        splits = {
            name: {
                "files": split.files,
                "records": split.records,
                "boxes": split.boxes,
                "without_boxes": split.without_boxes,
                "most_boxes": split.most_boxes,
                "sizes": split.sizes,
            }
            for name, split in self.splits.items()
        }
        return {
            "fit": self.fit,
            "records": self.records,
            "errors": self.findings.total(ERROR),
            "warnings": self.findings.total(WARNING),
            "splits": splits,
            "boxes_per_class": self.classes,
            "decoded": self.decoded,
            "boxes_under_pixels": {str(key): n for key, n in self.small.items()},
            "notes": self.notes,
            "findings": self.findings.as_json(),
        }


def scan(found: inputs.Sources, options: Options) -> Report:
    """Read everything in found and return the Report.

    Args:
        found: of inputs.find.
        options: what to look for.

    Raises:
        UsageError: the options make no sense.
    """
    return _Scan(found, options).run()


class _Scan:
    def __init__(self, found: inputs.Sources, options: Options):
        self._found, self._options = found, options
        self._findings, self._identities = Findings(), Identities()
        self._splits: Dict[str, SplitCount] = collections.OrderedDict()
        self._classes: Counter[Any] = collections.Counter()  # by id, or by name without a label map
        self._ids_of_texts: Dict[str, int] = {}
        self._small: Counter[int] = collections.Counter()
        self._anchors = AnchorShares(self._options.config)
        self._masks: Dict[Optional[str], List[Any]] = {}  # kind of masks: [records with boxes, first place]
        self._notes: List[str] = []
        self._rules = self._make_rules()

    def run(self) -> Report:
        self._describe()
        total = sum(files.size(shard.path) for shard in self._found.shards)
        with Progress("Checking", total, "B", scale=True) as progress:
            for shard in self._found.shards:
                self._file(shard, progress)
        self._repetitions()
        decoded = self._decode()
        self._whole()
        names = self._rules.label_map.names if self._rules.label_map else {}
        for key, detail in self._anchors.low():
            self._findings.add("no-anchor", Place(None, id=names.get(key, str(key)), detail=detail))
        self._notes += self._anchors.notes()
        classes = {
            names.get(key, f"class {key}" if isinstance(key, int) else key): count
            for key, count in sorted(self._classes.items(), key=lambda item: (-item[1], str(item[0])))
        }
        return Report(
            self._findings,
            self._splits,
            classes,
            decoded,
            {limit: self._small[limit] for limit in SMALL_LIMITS} if self._rules.resize else {},
            self._notes,
            [_WORDS[kind] for kind in self._masks],
        )

    def _make_rules(self):
        options, config = self._options, self._options.config
        classes = inputs.classes(self._found, options.label_map or (config.label_map if config else None))
        described = self._found.description or {}
        num_classes = next(
            (
                number
                for number in (
                    options.num_classes,
                    described.get("num_classes"),
                    config.num_classes if config else None,
                    max(classes.names) if classes else None,
                )
                if isinstance(number, int)
            ),
            None,
        )
        if classes is None and num_classes is None:
            self._notes.append(
                "Without a label map class ids were only checked to count from 1; "
                "--label-map FILE or --num-classes N checks more."
            )
        resize = options.resize or (config.resize if config else None)
        if resize is None:
            self._notes.append("Small boxes were not looked for; --input-size N (or --config FILE) does.")
        return example_rules.Rules(num_classes, classes, config.max_boxes if config else 100, resize)

    def _describe(self):
        """What is known before a record is read."""
        if self._found.folder is not None:
            for problem in quick.description_problems(self._found.folder):
                self._findings.add("description", Place(self._found.folder, detail=problem))
        for _, name in self._found.missing:
            self._findings.add("missing-shard", Place(name))
        classes, num_classes = self._rules.label_map, self._rules.num_classes
        if classes and num_classes is not None and max(classes.names) != num_classes:
            self._findings.add(
                "num-classes",
                Place(None, detail=f"num_classes is {num_classes}, the largest id is {max(classes.names)}"),
            )

    def _file(self, shard, progress):
        split = self._splits.setdefault(shard.split, SplitCount())
        split.files += 1
        described, describe = shard.described, self._options.describe
        digest = hashlib.sha256() if describe or described.get("sha256") else None
        found_before = self._findings.total(ERROR)
        try:
            records = self._records(shard, split, digest, progress)
        except OSError as error:
            self._findings.add("unreadable", Place(shard.path, detail=error.strerror or str(error)))
            return
        if digest is not None and describe:
            whole = {"sha256": digest.hexdigest(), "bytes": files.size(shard.path), "examples": records}
            split.shards.append(dict(whole, path=shard.path))
        if not described.get("sha256") or digest is None or found_before != self._findings.total(ERROR):
            return
        if digest.hexdigest() != described["sha256"]:
            self._findings.add("description", Place(shard.path, detail="its sha256 is another one"))
        elif described.get("examples") != records:
            self._findings.add("description", Place(shard.path, detail=f"it holds {records} records"))

    def _records(self, shard, split, digest, progress):
        words = tolerant_reader.foreign(shard.path)
        if words:
            self._findings.add("foreign-file", Place(shard.path, detail="it is " + words))
            return 0
        if not os.path.getsize(shard.path):
            self._findings.add("empty-file", Place(shard.path))
            return 0
        records, at = 0, 0
        for read in tolerant_reader.scan(shard.path, digest):
            progress.update(read.offset - at)
            at = read.offset
            if read.damage:
                self._findings.add(
                    read.damage, Place(shard.path, read.offset, detail=f"{read.lost_bytes} bytes cannot be read")
                )
                continue
            records += 1
            split.records += 1
            self._record(shard, split, read)
        progress.update(max(0, files.size(shard.path) - at))
        return records

    def _record(self, shard, split, read):
        try:
            features = example_rules.parse(read.payload)
        except ValueError as reason:
            self._findings.add("not-an-example", Place(shard.path, read.offset, detail=str(reason)))
            return
        identity = example_rules.text(features, example_rules.SOURCE_ID)
        encoded = (example_rules.values(features, example_rules.ENCODED, example_rules.BYTES) or (b"",))[0]
        self._identities.add(shard.path, shard.split, read.offset, identity.encode("utf-8"), encoded)
        place = Place(shard.path, read.offset, identity)
        if not identity:
            self._findings.add("no-id", place)
        for problem in example_rules.problems(features, self._rules):
            self._findings.add(problem.kind, place._replace(detail=problem.detail), problem.times)
        self._count(features, split, place)

    def _count(self, features, split, place):
        boxes = example_rules.boxes(features)
        split.boxes += len(boxes)
        split.without_boxes += not boxes
        split.most_boxes = max(split.most_boxes, len(boxes))
        size = example_rules.stated_size(features)
        if size:
            split.see_size(*size)
            if self._options.describe and min(size) > 0:
                split.picture_sizes[size] += 1
        keys = self._class_keys(features, place)
        self._see_anchors(boxes, keys, size, place)
        for key in keys:
            if key is not None and (key in self._classes or len(self._classes) < _NAMES_KEPT):
                self._classes[key] += 1
                split.classes[key] += 1
        for pixels in example_rules.input_pixels(features, self._rules, size):
            for limit in SMALL_LIMITS:
                self._small[limit] += pixels < limit
        if boxes:
            kind, masks = features.get(example_rules.MASKS, (None, ()))
            seen = self._masks.setdefault(kind if len(masks) else None, [0, place])
            seen[0] += 1

    def _see_anchors(self, boxes, keys, size, place):
        config, resize = self._options.config, self._rules.resize
        if config and config.most_detections is not None and len(boxes) > config.most_detections:
            detail = f"{len(boxes)} boxes, max_total_detections {config.most_detections}"
            self._findings.add("many-detections", place._replace(detail=detail))
        if resize is not None and size is not None and min(size) > 0:
            self._anchors.see(boxes, keys, resize(*size))

    def _class_keys(self, features, place):
        """The class of each object: its id where there is a label map, else its text, else its id."""
        texts = [
            item.decode("utf-8", "replace")
            for item in example_rules.values(features, example_rules.TEXTS, example_rules.BYTES)
        ]
        labels = example_rules.values(features, example_rules.LABELS, example_rules.INTS)
        if self._rules.label_map or not texts:
            return example_rules.class_ids(features, self._rules.label_map)
        for text, label in zip(texts, labels):
            if len(self._ids_of_texts) < _NAMES_KEPT and self._ids_of_texts.setdefault(text, label) != label:
                self._findings.add(
                    "text-and-id",
                    place._replace(detail=f"{text} was {self._ids_of_texts[text]} before and is {label} here"),
                )
        return texts

    def _repetitions(self):
        for what, within, across in (
            ("id", "same-id", "id-in-two-splits"),
            ("image", "same-image", "image-in-two-splits"),
        ):
            for repeated in self._identities.repeated(what):
                for number in repeated.again:
                    self._repeated(within, number, repeated.numbers[0])
                if repeated.across:
                    self._repeated(across, repeated.numbers[-1], repeated.numbers[0])

    def _repeated(self, kind, number, first):
        """The record shares something with an earlier one."""
        if self._findings.full(kind):
            self._findings.add(kind, Place(None))
            return
        path, offset = self._identities.place(number)
        first_path, first_offset = self._identities.place(first)
        features = example_rules.parse(tolerant_reader.read_at(path, offset))
        self._findings.add(
            kind,
            Place(
                path,
                offset,
                example_rules.text(features, example_rules.SOURCE_ID),
                f"as {os.path.basename(first_path)} @ byte {first_offset}",
            ),
        )

    def _decode(self):
        """Decode a sample of images and their masks to the last row; returns how many."""
        numbers = self._identities.sample(self._options.decode)
        with Progress("Decoding", len(numbers), "images") as progress:
            for number in numbers:
                path, offset = self._identities.place(number)
                features = example_rules.parse(tolerant_reader.read_at(path, offset))
                place = Place(path, offset, example_rules.text(features, example_rules.SOURCE_ID))
                for problem in example_rules.decoding_problems(features):
                    self._findings.add(problem.kind, place._replace(detail=problem.detail), problem.times)
                progress.update(1)
        return len(numbers)

    def _whole(self):
        """What only the whole shows."""
        records = sum(split.records for split in self._splits.values())
        if records and not sum(split.boxes for split in self._splits.values()):
            self._findings.add("no-boxes", Place(None, detail=f"{records} records"))
        self._balance()
        if len(self._masks) > 1:
            for kind, (count, place) in self._masks.items():
                self._findings.add("mask-kind", place._replace(detail=f"{_WORDS[kind]} in {counted(count, 'record')}"))
        elif self._masks and self._options.config and self._options.config.masks:
            kind = _WORDS[next(iter(self._masks))]
            if kind != self._options.config.masks:
                self._findings.add(
                    "config-masks",
                    Place(None, detail=f"{self._options.config.masks} in the config, {kind} in the records"),
                )
        if self._rules.label_map and records:
            for number, name in sorted(self._rules.label_map.names.items()):
                if not self._classes[number]:
                    self._findings.add("class-without-box", Place(None, id=name))

    def _balance(self):
        """Splits without boxes, and classes that only some of the splits have."""
        names = self._rules.label_map.names if self._rules.label_map else {}
        boxes = {
            name: {str(names.get(key, key)): count for key, count in split.classes.items()}
            for name, split in self._splits.items()
            if split.records
        }
        for kind, text in balance.of_counts(boxes):
            self._findings.add(kind, Place(None, detail=text))


def input_size(text: str) -> example_rules.Resize:
    """A function for example_rules.Rules.resize.

    Args:
        text: "300" or "640x360" (width x height).

    Raises:
        UsageError: it is neither.
    """
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(side.isdigit() and int(side) for side in sides):
        raise UsageError(f"--input-size {text} is no size.", "Give pixels: 300, or 640x360 (width x height).")
    size = (int(sides[0]), int(sides[-1]))
    return lambda width, height: size
