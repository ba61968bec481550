"""`python -m data_prep adopt`: a dataset.json for TFRecords that are there already; nothing of theirs is written."""

import os
import shlex
from argparse import Namespace
from typing import Dict, List

from common import files
from common.errors import UsageError
from common.text import counted
from data_prep.adopt import reading
from data_prep.check import report
from data_prep.wording import some
from data_prep.writer import ownership, shards

_SPLITS = (("records", "train"), ("val", "val"), ("test", "test"))


def run(options: Namespace) -> int:
    """Adopts options.records, .val and .test with options.label_map into options.out; returns 0.

    Raises:
        as adopt.
    """
    patterns: Dict[str, List[str]] = {
        split: getattr(options, name) for name, split in _SPLITS if getattr(options, name)
    }
    out = options.out or default_out(options.records[0])
    adopt(patterns, options.label_map, out)
    print(f"Train on them with DATASET={out} make train.", flush=True)
    return 0


def adopt(patterns: Dict[str, List[str]], label_map: str, out: str) -> None:
    """Reads records whole and writes their description.

    Args:
        patterns: {split: files or glob patterns}; "train" and "val" at least.
        label_map: the file with their classes; it is copied, as ids and names must stay those that were read.
        out: an empty folder, or one with an earlier description of adopted records.

    Raises:
        UsageError: the arguments make no sense, or what is in the folder is not ours to write over.
        DataError: the records cannot be trained on.
    """
    _refuse_folder(out)
    adopted = reading.read(patterns, label_map)
    report.print_report(adopted.report, [path for paths in adopted.splits.values() for path in paths])
    reading.refuse_errors(adopted.report.findings, adopted.report.records, "The table above lists every kind.")
    with files.locked(out):
        _refuse_folder(out)  # another process may have been there meanwhile
        dataset = reading.describe(
            adopted,
            os.path.basename(os.path.abspath(out)),
            ownership.LABEL_MAP_FILE,
            lambda path: shards.adopted_name(out, path),
        )
        dataset["command"] = _command(patterns, label_map, out)
        _write(out, files.read(label_map), dataset)
    _print_summary(out, dataset)


def default_out(record: str) -> str:
    """data/NAME-adopted, of the name of the folder that the records lie in."""
    return os.path.join("data", os.path.basename(os.path.dirname(os.path.abspath(record))) + "-adopted")


def _refuse_folder(out):
    """A description is written into an empty folder, or over an earlier one of adopted records."""
    if not os.path.lexists(out):
        return
    if not os.path.isdir(out):
        raise UsageError(f"--out {out} is there, and is no folder.", "Name a new or an empty folder.")
    ownership.refuse_foreign(out)
    converted = sorted(name for name in os.listdir(out) if ".record-" in name)
    if converted:
        raise UsageError(
            f"{out} holds a dataset with records of its own: {some(converted, len(converted), 3)}.",
            "Name another folder with --out; a dataset that was converted here needs no adopting.",
        )


def _write(out, label_map, dataset):
    """Both files are on the disk before an older description goes."""
    names = (ownership.LABEL_MAP_FILE, ownership.DATASET_FILE)
    ownership.claim(out, names)
    try:
        paths = [os.path.join(out, name) for name in names]
        unfinished = [
            files.write_temporary(path, content) for path, content in zip(paths, (label_map, files.json_bytes(dataset)))
        ]
        if os.path.exists(paths[-1]):
            os.unlink(paths[-1])
        for temporary, path in zip(unfinished, paths):
            os.replace(temporary, path)
    finally:
        files.remove_temporaries(out)
        ownership.settle(out)


def _command(patterns, label_map, out):
    """The command that does the same again, for a shell."""
    words = ["python", "-m", "data_prep", "adopt"]
    for name, split in _SPLITS:
        words += ["--" + name] + patterns[split] if split in patterns else []
    return " ".join(shlex.quote(word) for word in words + ["--label-map", label_map, "--out", out])


def _print_summary(out, dataset):
    parts = [
        f"{name}: {counted(split['examples'], 'image')} with {counted(split['boxes'], 'box', 'boxes')} in "
        f"{counted(len(split['shards']), 'file')}"
        for name, split in dataset["splits"].items()
    ]
    classes = counted(len(dataset["classes"]), "class", "classes")
    print(f"{out} describes these records, which stay where they are. {'; '.join(parts)}; {classes}.")
    listed = [shard["file"] for split in dataset["splits"].values() for shard in split["shards"]]
    absolute = [name for name in listed if os.path.isabs(name)]
    if absolute:
        print(
            f"{len(absolute)} of {counted(len(listed), 'file')} are named by absolute paths ({absolute[0]}): a "
            "training has to find them there. In a container it sees data/ and runs/ alone."
        )
