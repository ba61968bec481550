"""`python -m data_prep check`: the report of a scan, as tables for people or as JSON, and the verdict."""

import json
import os
import sys
from argparse import Namespace
from typing import Optional, Sequence, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from common.errors import DataError, UsageError
from common.text import counted, printable
from data_prep.check import inputs, model_input, scan
from data_prep.check.problems import ERROR, WARNING

_COLOURS = {ERROR: "bold red", WARNING: "yellow"}
# A log or a pipe has no width of its own.
_WIDTH_ELSEWHERE = 130


def run(options: Namespace) -> int:
    """Check options.paths as the command line says; returns 0.

    Raises:
        UsageError: the options make no sense.
        DataError: anything is an error.
    """
    scan_options = scan.Options(
        label_map=options.label_map,
        num_classes=options.num_classes,
        config=model_input.read(options.config) if options.config else None,
        resize=scan.input_size(options.input_size) if options.input_size else None,
        decode=_number_to_decode(options.decode),
    )
    if options.num_classes is not None and options.num_classes < 1:
        raise UsageError(f"--num-classes {options.num_classes} is no number of classes.", "Give 1 or more.")
    report = scan.scan(inputs.find(options.paths), scan_options)
    if options.json:
        print(json.dumps(dict({"paths": options.paths}, **report.as_json()), indent=1))
    else:
        print_report(report, options.paths)
    print(_verdict(report, options.paths), file=sys.stderr if options.json else sys.stdout)
    return 0


def _number_to_decode(text):
    if text == "all":
        return None
    if not text.isdigit():
        raise UsageError(f"--decode {text} is neither a number nor all.", "Give a number of images, or all.")
    return int(text)


def _verdict(report, paths):
    """The sentence at the end. Raises DataError when there is something to correct."""
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    errors, warnings = report.findings.total(ERROR), report.findings.total(WARNING)
    if errors:
        raise DataError(
            f"{name}: {counted(errors, 'error')} of {counted(len(report.findings.kinds(ERROR)), 'kind')} in "
            f"{counted(report.records, 'record')}: not fit for training.",
            "Each kind is listed above with its remedy; correct them and check again.",
        )
    return (
        f"{name} is fit for training: {counted(report.records, 'record')}, no errors, {counted(warnings, 'warning')}."
    )


def print_report(report: scan.Report, paths: Sequence[str] = (), out: Optional[TextIO] = None) -> None:
    """Print the tables of a scan.

    Args:
        report: of scan.scan.
        paths: what was checked.
        out: where to, by default standard output.
    """
    out = out or sys.stdout
    console = Console(file=out, width=None if out.isatty() else _WIDTH_ELSEWHERE, highlight=False)
    console.print(_splits_table(report))
    folder = _folder_of(paths)
    rows = report.findings.rows(folder)
    if rows:
        console.print(_findings_table(rows, folder))
    for line in _lines(report):
        console.print(Text(line))


def _splits_table(report):
    table = Table(title="What is there", title_justify="left")
    for heading in ("split", "files", "records", "boxes", "without a box", "most boxes", "image sizes"):
        table.add_column(heading, justify="left" if heading in ("split", "image sizes") else "right", overflow="fold")
    for name, split in report.splits.items():
        sizes = _ranges(split.sizes) if split.sizes else "not stated"
        table.add_row(
            Text(printable(name)),
            *[
                f"{number}"
                for number in (split.files, split.records, split.boxes, split.without_boxes, split.most_boxes)
            ]
            + [sizes],
        )
    return table


def _ranges(sizes):
    low_width, high_width, low_height, high_height = sizes
    return f"{low_width}-{high_width} x {low_height}-{high_height} px"


def _folder_of(paths):
    """The folder that need not be repeated with every file."""
    if len(paths) != 1:
        return ""
    return paths[0].rstrip("/") if os.path.isdir(paths[0]) else os.path.dirname(paths[0])


def _findings_table(rows, folder):
    table = Table(title="What was found", title_justify="left", show_lines=True)
    table.add_column("", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("what, and what to do", overflow="fold", ratio=5)
    table.add_column("where first" + (f", in {printable(folder)}" if folder else ""), overflow="fold", ratio=6)
    for kind, count, where in rows:
        table.add_row(
            Text(kind.severity, _COLOURS[kind.severity]),
            f"{count}",
            Text.assemble((kind.what, "bold"), "\n", kind.do),
            Text(where),
        )
    return table


def _lines(report):
    if report.classes:
        counts = list(report.classes.items())
        most, least = counts[0], counts[-1]
        yield (
            f"{len(counts)} classes with boxes, from {printable(most[0])} ({most[1]}) to {printable(least[0])} "
            f"({least[1]})."
        )
    if report.small:
        under = ", ".join(f"{count} under {limit} px" for limit, count in sorted(report.small.items()))
        yield f"Boxes by their shorter side at the model's input size: {under}."
    yield f"{report.decoded} of {report.records} images were decoded to the last row."
    for note in report.notes:
        yield note
