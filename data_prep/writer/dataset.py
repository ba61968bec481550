"""The shared writer: images that a format module has read become a prepared dataset folder.

A prepared folder holds `<prefix>_<split>.record-NNNNN-of-MMMMM`, `label_map.pbtxt` and, written last,
`dataset.json`: where that file is, everything it names is whole. `shard_workers` makes the shards.
"""

import collections
import contextlib
import hashlib
import os
import shlex
import time
from typing import Any, Callable, Counter, Dict, List, NamedTuple, Optional, Sequence, Tuple

from google.protobuf import text_encoding

from common import files
from common.errors import DataError, UsageError
from common.text import counted
from data_prep.wording import name_text, size_text, some
from data_prep.writer import balance, ownership, shard_workers
from data_prep.writer.outcome import Outcome

FORMAT = 1
DATASET_FILE = ownership.DATASET_FILE
LABEL_MAP_FILE = ownership.LABEL_MAP_FILE
SHARDS = 10
MAX_SKIPPED = 0.02
# Nine of the Oxford pets' 3,680 images have no xml, a known gap; beyond this share something is missing.
_FORGIVEN_SHARE = 0.05
# What max_number_of_boxes of an input reader is where a pipeline config does not say (protos/input_reader.proto).
API_BOXES = 100
_NAMES_KEPT, _NAMES_IN_A_ROW = 20, 3
_ROWS_SHOWN = 100
_WARNINGS_SHOWN = 5


class Unused(NamedTuple):
    """Files that are no part of the conversion, and why: listed, so that nobody looks for them in the records."""

    names: List[str]
    reason: str


class Split(NamedTuple):
    """The ids of a split's images; the n-th goes into shard n modulo the number of shards."""

    name: str
    ids: List[str]


class Plan(NamedTuple):
    """All that a format module decides; `convert(id)` gives an Outcome and runs in worker processes.

    command: the options that change a byte of the result, as {option: value}. config: fields for a pipeline config
    beyond the classes and paths. unused: list of Unused. problems: what in the annotations is not used and is no image,
    each with `where` (file, and line or id in it) and `why`. lines: what is said before the conversion begins.
    """

    name: str
    classes: Sequence[str]
    prefix: str
    splits: Sequence[Split]
    convert: Callable[[str], Outcome]
    shards: int
    fingerprint: Dict[str, Any]  # what the records are made from and how: if it is the same, nothing is to be done
    extra: Dict[str, Any]  # further keys of dataset.json
    command: Tuple[Any, ...] = ()  # the format's name, then its options as a dict
    config: Dict[str, Any] = {}
    unused: Sequence[Unused] = ()
    problems: Sequence[Any] = ()
    lines: Sequence[str] = ()
    classes_are_given: bool = False  # those of a published dataset, of which the source may be a part


class Limits(NamedTuple):
    """How many images may be unusable: a share (0 to 1), or none at all."""

    max_skipped: float = MAX_SKIPPED
    strict: bool = False


DEFAULT_LIMITS = Limits()


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def write(out_dir: str, plan: Plan, workers: Optional[int] = None, limits: Limits = DEFAULT_LIMITS) -> Dict[str, Any]:
    """Convert everything in plan into out_dir and return the content of its dataset.json.

    An older dataset in out_dir stays untouched until the new one is whole. The caller holds `files.locked(out_dir)`.

    Args:
        out_dir: where the dataset goes.
        plan: what a format decided.
        workers: processes, by default one a core.
        limits: how much of it may be unusable.

    Raises:
        UsageError: shards, workers or limits are no such numbers, or the folder holds what is not ours.
        DataError: more is unusable than the limits allow, after printing what was skipped and why; or a shard would be
            empty.
    """
    _validate(plan, workers, limits)
    ownership.refuse_foreign(out_dir)
    started = time.monotonic()
    files.remove_temporaries(out_dir)
    tasks = [
        shard_workers.Task(
            split.name,
            number,
            split.ids[number :: plan.shards],
            os.path.join(out_dir, shard_name(plan.prefix, split.name, number, plan.shards)),
        )
        for split in plan.splits
        for number in range(plan.shards)
    ]
    names = [os.path.basename(task.path) for task in tasks]
    ownership.claim(out_dir, names + [LABEL_MAP_FILE, DATASET_FILE])
    try:
        shards = shard_workers.run(tasks, plan.convert, workers or available_cores())
        dataset = _describe(plan, shards)
        print_changes(dataset)
        _verify(dataset, plan, limits)
        _publish(out_dir, plan, shards, dataset)
    finally:
        files.remove_temporaries(out_dir)
        with contextlib.suppress(OSError):  # what fails is told already, and a list may name what is not there
            ownership.settle(out_dir)
    _print_warnings(dataset["warnings"])
    _print_summary(out_dir, dataset, time.monotonic() - started)
    return dataset


def shard_name(prefix: str, split: str, number: int, shards: int) -> str:
    """The API's own naming, so that its `input_path` patterns match."""
    return f"{prefix}_{split}.record-{number:05d}-of-{shards:05d}"


def label_map_text(classes: Sequence[str]) -> str:
    """A label map (text proto StringIntLabelMap) with ids from 1 in the order of classes."""
    return "".join(
        f'item {{\n  id: {number}\n  name: "{text_encoding.CEscape(name, as_utf8=True)}"\n}}\n'
        for number, name in enumerate(classes, 1)
    )


def shards_for(splits: Sequence[Split]) -> int:
    """How many shards a split: ten, but at least ten images in each of the smallest split's."""
    return max(1, min(SHARDS, min(len(split.ids) for split in splits) // 10))


def _validate(plan, workers, limits):
    if plan.shards < 1 or (workers is not None and workers < 1) or not 0 <= limits.max_skipped <= 1:
        raise UsageError(
            "Shards and workers count from 1, and the share of skipped images lies between 0 and 1.",
            "Correct --shards, --workers or --max-skipped.",
        )
    smallest = min(plan.splits, key=lambda split: len(split.ids))
    if len(smallest.ids) < plan.shards:
        raise DataError(
            f"The {smallest.name} split has {len(smallest.ids)} images for {plan.shards} shards, and an "
            "empty shard stops a training.",
            "Add images, or ask for fewer shards with --shards.",
        )


def _describe(plan, shards):
    """The content of dataset.json."""
    splits = {split.name: _describe_split(plan, split, shards) for split in plan.splits}
    notable = [item for split in plan.splits for item in _notable(plan, split, shards)]
    most_boxes = max(shard.most_boxes for shard in shards)
    dataset = {
        "format": FORMAT,
        "name": plan.name,
        "num_classes": len(plan.classes),
        "label_map": LABEL_MAP_FILE,
        "classes": list(plan.classes),
        "splits": splits,
        "skipped": [
            dict(_identity(image_id, outcome), split=split, reason=outcome.skipped, forgiven=outcome.forgiven)
            for split, image_id, outcome in notable
            if outcome.skipped
        ],
        "changed": [
            dict(_identity(image_id, outcome), split=split, what=kind, detail=text)
            for split, image_id, outcome in notable
            for kind, text in outcome.notes
        ],
        "unused": [
            {"count": len(unused.names), "names": unused.names[:_NAMES_KEPT], "reason": unused.reason}
            for unused in plan.unused
            if unused.names
        ],
        "problems": [{"where": name_text(problem.where), "why": name_text(problem.why)} for problem in plan.problems],
        "warnings": _warnings(plan, splits, shards),
        "picture_sizes": sizes(sum((shard.sizes for shard in shards), collections.Counter())),
        "most_boxes": most_boxes,
        "config": _config(plan, splits, most_boxes),
        "made_from": plan.fingerprint,
        "pictures_sha256": _sha256_of_all(shards),
        "command": command_line(*plan.command) if plan.command else None,
    }
    dataset.update(plan.extra)
    return dataset


def _warnings(plan, splits, shards):
    found = balance.warnings(splits, [_images(split, plan.shards, shards) for split in plan.splits])
    return found if plan.classes_are_given else balance.of_classes(splits) + found


def _images(split, count, shards):
    """(name, ids, digests) for balance.of_images; the ids in the order of the shards."""
    own = [shard for shard in shards if shard.task.split == split.name]
    ids = [image_id for shard in own for image_id in split.ids[shard.task.number :: count]]
    return split.name, ids, b"".join(shard.digests for shard in own)


def _describe_split(plan, split, shards):
    own = [shard for shard in shards if shard.task.split == split.name]
    labels: Counter[int] = sum((shard.labels for shard in own), collections.Counter())
    return {
        "pattern": f"{plan.prefix}_{split.name}.record-?????-of-{plan.shards:05d}",
        "shards": [
            {
                "file": os.path.basename(shard.task.path),
                "sha256": shard.written.sha256,
                "bytes": shard.written.bytes,
                "examples": shard.written.examples,
            }
            for shard in own
        ],
        "listed": len(split.ids),
        "examples": sum(shard.written.examples for shard in own),
        "boxes": sum(labels.values()),
        "boxes_per_class": {name: labels[number] for number, name in enumerate(plan.classes, 1)},
    }


def _notable(plan, split, shards):
    """[(split's name, image id, Outcome)] of what was skipped or changed, in the order of the split's list."""
    # Shard n holds every shards-th image.
    found = [
        (place * plan.shards + shard.task.number, image_id, outcome)
        for shard in shards
        if shard.task.split == split.name
        for place, image_id, outcome in shard.notable
    ]
    return [(split.name, image_id, outcome) for _, image_id, outcome in sorted(found, key=lambda item: item[0])]


def _identity(image_id, outcome):
    return {"id": image_id, "file": outcome.file} if outcome.file else {"id": image_id}


def command_line(name: str, options: Dict[str, Any]) -> str:
    """`python -m data_prep NAME ...` with the options that change a byte of the result, for a shell."""
    words = ["python", "-m", "data_prep", name]
    for option, value in options.items():
        if value is not None:
            words += ["--" + option.replace("_", "-"), str(value)]
    return " ".join(shlex.quote(word) for word in words)


def _config(plan, splits, most_boxes):
    """The pipeline config's fields for this dataset; paths are relative to its folder."""
    config = {
        "num_classes": len(plan.classes),
        "label_map_path": LABEL_MAP_FILE,
        "train_input_path": splits["train"]["pattern"],
        "eval_input_path": splits["val"]["pattern"],
    }
    config.update(plan.config)
    if most_boxes > API_BOXES:
        config["max_number_of_boxes"] = most_boxes
    return config


def sizes(counts: Counter[Tuple[int, ...]]) -> Dict[str, Any]:
    """Sides in pixels: smallest, median, largest; and the commonest sizes. counts: {(width, height): images}."""
    if not counts:
        return {}
    found: Dict[str, Any] = {}
    for axis, side in enumerate(("width", "height")):
        ordered = sorted(counts, key=lambda size: size[axis])
        found[side] = {"min": ordered[0][axis], "median": _median(ordered, counts)[axis], "max": ordered[-1][axis]}
    found["commonest"] = [
        {"size": size_text(size), "pictures": counts[size]}
        for size in sorted(counts, key=lambda size: (-counts[size], size))[:10]
    ]
    return found


def _median(ordered, counts):
    """The middle of all images in the order of their sizes; of an even number the second of the two."""
    middle = sum(counts.values()) // 2
    for size in ordered:
        if middle < counts[size]:
            return size
        middle -= counts[size]


def _sha256_of_all(shards):
    """One checksum of all image files that were converted: of each shard's, in the order of dataset.json."""
    return hashlib.sha256("".join(f"{shard.sources_sha256}\n" for shard in shards).encode("utf-8")).hexdigest()


def _verify(dataset, plan, limits):
    listed = sum(len(split.ids) for split in plan.splits)
    written = sum(split["examples"] for split in dataset["splits"].values())
    unexplained = listed - written - len(dataset["skipped"])
    if unexplained:
        raise DataError(
            f"{unexplained} of {listed} images are neither written nor listed as skipped.",
            "This is a fault of the converter: report it with this output.",
        )
    hold_to_limits(dataset, limits)
    for split in dataset["splits"].values():
        for shard in split["shards"]:
            if not shard["examples"]:
                raise DataError(
                    f"No usable image is left for {shard['file']}, and an empty shard stops a training.",
                    "Repair the skipped images (table above), or ask for fewer shards with --shards.",
                )


def hold_to_limits(dataset: Dict[str, Any], limits: Limits) -> None:
    """Refuse a dataset that lost too much.

    Args:
        dataset: its dataset.json.
        limits: how many images may be skipped.

    Raises:
        DataError: more are.
    """
    listed = sum(split["listed"] for split in dataset["splits"].values())
    bad = {entry["id"] for entry in dataset["skipped"] if limits.strict or not entry["forgiven"]}
    bad |= {entry["id"] for entry in dataset["changed"] if entry["what"] == "rejected box"}
    bad |= {problem["where"] for problem in dataset.get("problems", ())}
    if limits.strict and bad:
        raise DataError(
            f"{len(bad)} of {listed} images were skipped or lost a box (table above), and --strict allows none.",
            "Repair the data, or leave out --strict.",
        )
    # As shares, rounded as --max-skipped is: 0.29 times 100 images is less than 29.
    if min(1.0, len(bad) / listed) > limits.max_skipped:
        share = min(1.0, len(bad) / listed + 0.005)
        raise DataError(
            f"{len(bad)} of {listed} images were skipped or lost a box (table above), more than the limit "
            f"of {100 * limits.max_skipped:g} %.",
            f"Repair the data, or accept the loss with --max-skipped {share:.2f}.",
        )
    forgiven = sum(entry["forgiven"] for entry in dataset["skipped"])
    if forgiven / listed > _FORGIVEN_SHARE:
        raise DataError(
            f"{forgiven} of {listed} images have no annotation, where the complete dataset lacks a few.",
            "Unpack the annotations again.",
        )


def _publish(out_dir, plan, shards, dataset):
    """Give the new files their names; from here until dataset.json is there the folder is incomplete.

    All are on the disk under their temporary names before an older dataset is touched: the disk may be full.
    """
    before = ownership.ours(out_dir)
    dataset_path, label_map_path = (os.path.join(out_dir, name) for name in (DATASET_FILE, LABEL_MAP_FILE))
    label_map = files.write_temporary(label_map_path, label_map_text(plan.classes).encode("utf-8"))
    description = files.write_temporary(dataset_path, files.json_bytes(dataset))
    if os.path.exists(dataset_path):
        os.unlink(dataset_path)
    keep = {os.path.basename(shard.task.path) for shard in shards}
    for name in set(os.listdir(out_dir)) & before - keep:
        if ".record-" in name:
            os.unlink(os.path.join(out_dir, name))
    for shard in shards:
        os.replace(shard.unfinished, shard.task.path)
    os.replace(label_map, label_map_path)
    os.replace(description, dataset_path)


def print_changes(dataset: Dict[str, Any]) -> None:
    """One row for all images of a split with the same reason: a table that can be read for 10 and for 10,000."""
    groups: Dict[Tuple[str, str, str], List[str]] = collections.OrderedDict()
    for entry in dataset["skipped"]:
        what = "no annotation" if entry["forgiven"] else "skipped"
        groups.setdefault((entry["split"], what, entry["reason"]), []).append(_shown(entry))
    for entry in dataset["changed"]:
        groups.setdefault((entry["split"], entry["what"], entry["detail"]), []).append(_shown(entry))
    rows = [(some(names, len(names), _NAMES_IN_A_ROW),) + group for group, names in groups.items()]
    rows += _problem_rows(dataset)
    rows += [
        (some(entry["names"], entry["count"], _NAMES_IN_A_ROW), "-", "not used", entry["reason"])
        for entry in dataset["unused"]
    ]
    if not rows:
        return
    # Imported only where there is something to say: it takes as long as a hundred images.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Images that did not go in as they were, or that are unusual", title_justify="left")
    for heading in ("image", "split", "what", "why"):
        table.add_column(heading, overflow="fold")
    for row in rows[:_ROWS_SHOWN]:
        table.add_row(*(Text(cell) for cell in row))
    Console(soft_wrap=False).print(table)
    if len(rows) > _ROWS_SHOWN:
        print(f"... and {len(rows) - _ROWS_SHOWN} more reasons.")


def _problem_rows(dataset):
    groups: Dict[str, List[str]] = collections.OrderedDict()
    for problem in dataset.get("problems", ()):
        groups.setdefault(problem["why"], []).append(problem["where"])
    return [(some(names, len(names), _NAMES_IN_A_ROW), "-", "not used", why) for why, names in groups.items()]


def _shown(entry):
    return f"{entry['file']} ({entry['id']})" if "file" in entry else entry["id"]


def _print_warnings(warnings):
    for warning in warnings[:_WARNINGS_SHOWN]:
        print(f"Warning: {warning}.", flush=True)
    if len(warnings) > _WARNINGS_SHOWN:
        print(f"... and {len(warnings) - _WARNINGS_SHOWN} more warnings in {DATASET_FILE}.", flush=True)


def _print_summary(out_dir, dataset, seconds):
    parts = [
        f"{name}: {counted(split['examples'], 'image')} with {counted(split['boxes'], 'box', 'boxes')} in "
        f"{counted(len(split['shards']), 'shard')}"
        for name, split in dataset["splits"].items()
    ]
    classes = counted(dataset["num_classes"], "class", "classes")
    print(
        f"{out_dir} is ready in {seconds:.1f} s. {'; '.join(parts)}; {classes}, {len(dataset['skipped'])} skipped.",
        flush=True,
    )
