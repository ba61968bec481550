"""The converters' part of the command line: `mini-pets` and a sub-command for each of FORMATS."""

import argparse
import functools
import os
from typing import Any, Callable, Optional

from common.errors import UsageError
from common.text import did_you_mean
from data_prep.formats import FORMATS, Format

_FEWER_SHARDS = "default: 10, and for data of your own fewer for under 100 images in a split"


class LateParser(argparse.ArgumentParser):
    """A sub-command's parser that gets its options when it is chosen, as they come with modules that import much.

    late: function(parser) that adds them.
    """

    late: Optional[Callable[[argparse.ArgumentParser], None]] = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, which hands the arguments of a sub-command to this."""
        if self.late is not None:
            add, self.late = self.late, None
            add(self)
        return super().parse_known_args(args, namespace)


def add(commands: Any) -> None:
    """Adds a parser for each format to argparse's subparsers of LateParser; its `run` gives an exit code."""
    mini = _add(commands, "mini-pets", "draw and convert the built-in dataset: 3 breeds, about 200 images")
    mini.set_defaults(run=_mini_pets)
    _add_output(mini, "data/mini-pets", "default: 10")
    for each in FORMATS:
        parser = _add(commands, each.name, each.help)
        parser.set_defaults(run=_convert, format=each)
        parser.late = functools.partial(_add_options, each)
    _add_dataset(commands)


def _add_dataset(commands):
    parser = _add(commands, "dataset", "find the format of a folder and convert it")
    parser.set_defaults(run=_dataset)
    parser.late = _add_dataset_options


def _add_dataset_options(parser):
    from data_prep.source import arguments

    arguments.add_all(parser, "images and annotations", "those of the data", "what its format says")
    parser.add_argument("--format", metavar="NAME", help="its format (default: what the files show)")
    _add_limits(parser)
    _add_output(parser, None, _FEWER_SHARDS)


def _dataset(options):
    """Converts what --source names as the format does that it is found to be in."""
    if options.format is None:
        from data_prep.formats import find

        found = find.find(options.source, [each.name for each in FORMATS if not each.published])
        options.format = found.format
        print(found.line, flush=True)
    known = {each.name: each for each in FORMATS if not each.published}
    if options.format not in known:
        raise UsageError(
            f"--format {options.format} is no format that is read.",
            did_you_mean(options.format, known, f"Name one of {', '.join(known)}."),
        )
    options.format = known[options.format]
    return _convert(options)


def _add(commands, name, text):
    return commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")


def _add_options(added, parser):
    added.add_options(parser)
    _add_limits(parser)
    _add_output(parser, f"data/{added.name}" if added.published else None, _FEWER_SHARDS)


def _add_limits(parser):
    parser.add_argument(
        "--max-skipped",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="share of images that may be unusable before the run fails (default: 0.02)",
    )
    parser.add_argument("--strict", action="store_true", help="fail if any image or box cannot be used")


def _add_output(parser, default, shards):
    parser.add_argument(
        "--out",
        default=default,
        required=default is None,
        metavar="DIR",
        help="where the dataset goes" + (" (default: %(default)s)" if default else ""),
    )
    parser.add_argument("--shards", type=int, metavar="N", help=f"files a split ({shards})")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core)")
    parser.add_argument("--force", action="store_true", help="convert again even if the dataset is complete")


def _mini_pets(options):
    _check_shards(options.shards)
    from data_prep.mini_pets import generate

    generate.prepare(options.out, shards=options.shards, workers=options.workers, force=options.force)
    return 0


def _convert(options):
    """Converts what --source names into --out, as options.format does it."""
    chosen: Format = options.format
    source = _source(chosen, options)
    _check_shards(options.shards)
    _choose_split(options)
    from data_prep.source import prepare
    from data_prep.writer.dataset import Limits

    name = chosen.name if chosen.published else prepare.dataset_name(options.out)
    prepare.prepare(
        lambda: chosen.plan(source, name, options),
        options.out,
        options.workers,
        Limits(options.max_skipped, options.strict),
        options.force,
    )
    return 0


def _source(chosen, options):
    """The folder to convert; what is published is downloaded into it where that is asked for."""
    if not chosen.published:
        return options.source
    if options.source and options.download:
        raise UsageError(
            "--source and --download exclude each other.",
            "Use --source for a dataset you have, --download for one you do not.",
        )
    source = options.source or os.path.join(options.out, "raw")
    if options.download:
        chosen.fetch(source)
    return source


def _check_shards(shards):
    """--shards is checked here because 0 would mean the default."""
    if shards is not None and shards < 1:
        raise UsageError(f"--shards {shards}: shards count from 1.", "Correct --shards.")


def _choose_split(options):
    """The options of arguments.add_split, and --val, become one, for formats that have them."""
    if hasattr(options, "split"):
        from data_prep.source.splits import Choice

        options.split = Choice(options.split, options.val_fraction, options.seed, getattr(options, "val", None))
