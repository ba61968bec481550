"""`python -m data_prep mini-pets|adopt|check|show` and the formats: the command line of data_prep.

Exit codes: 0 done, 2 the arguments make no sense, 3 the data, the disk or the network is not as needed, 130
stopped by Ctrl-C, 141 stopped because what reads the output (as in `| head`) has ended.
"""

import argparse
import contextlib
import os
import signal
import sys
from typing import List, Optional

from common import files
from common.errors import DataError
from data_prep import cli


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a command; returns its exit code."""
    try:
        with files.file_errors():
            return _run(arguments)
    except DataError as error:
        print(f"{error.what}\n{error.do}", file=sys.stderr)
        return error.code
    except BrokenPipeError:
        return _nobody_reads()
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again: it ends as if it had not been stopped.", file=sys.stderr)
        return 130


def _run(arguments):
    try:
        options = _parser().parse_args(arguments)
        _print_any_name()
        return options.run(options)
    finally:
        sys.stdout.flush()  # here, where it can be told that it fails


def _nobody_reads():
    with contextlib.suppress(BrokenPipeError):
        print("Stopped: nothing reads the output any more.", file=sys.stderr, flush=True)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):  # Python writes what is left in them when it ends
        os.dup2(nowhere, stream.fileno())
    return 128 + signal.SIGPIPE


def _print_any_name():
    """A terminal or a log that cannot show a name of the data gets escapes instead of ending the run."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not in Python 3.6, whose image has a UTF-8 locale
            stream.reconfigure(errors="backslashreplace")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m data_prep", description="Images and annotations to TFRecords.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=cli.LateParser)
    commands.required = True

    cli.add(commands)
    _add_adopt(commands)
    _add_check(commands)
    _add_show(commands)
    return parser


def _add_adopt(commands):
    adopt = commands.add_parser(
        "adopt", help="describe TFRecords that you have, so that a training uses them as they are"
    )
    files = dict(metavar="PATTERN", nargs="+")
    adopt.add_argument("--records", required=True, help="the files that train, or patterns in quotes", **files)
    adopt.add_argument("--val", required=True, help="the files that validate", **files)
    adopt.add_argument("--test", default=[], help="the files that test, if any", **files)
    adopt.add_argument("--label-map", required=True, metavar="FILE", help="their classes (pbtxt)")
    adopt.add_argument("--out", metavar="DIR", help="where dataset.json goes (default: data/, and FOLDER-adopted)")
    adopt.set_defaults(run=_adopt)


def _add_check(commands):
    check = commands.add_parser("check", help="are these TFRecords, anybody's, fit for training?")
    check.add_argument("paths", metavar="PATH", nargs="+", help="a dataset folder, TFRecord files, or a pattern")
    check.add_argument("--label-map", metavar="FILE", help="the classes (default: the dataset folder's)")
    check.add_argument("--num-classes", type=int, metavar="N", help="what the model's num_classes will be")
    check.add_argument("--config", metavar="FILE", help="a pipeline config, for classes, input size and masks")
    check.add_argument("--input-size", metavar="N|WxH", help="the model's input: which boxes become too small?")
    check.add_argument(
        "--decode",
        default="100",
        metavar="N|all",
        help="images to decode to the last row, spread evenly (default: %(default)s)",
    )
    check.add_argument("--json", action="store_true", help="print the report as JSON")
    check.set_defaults(run=_check)


def _add_show(commands):
    show = commands.add_parser("show", help="a contact sheet: images with boxes, classes, box sizes")
    show.add_argument("path", metavar="PATH", help="a dataset folder, a TFRecord file, or a pattern")
    show.add_argument("--out", metavar="FILE.png", help="the sheet (default: contact-sheet.png beside the data)")
    show.add_argument("--count", type=int, default=12, metavar="N", help="images (default: %(default)s)")
    show.add_argument("--label-map", metavar="FILE", help="the classes (default: the dataset folder's)")
    show.set_defaults(run=_show)


def _adopt(options):
    from data_prep.adopt import command

    return command.run(options)


def _check(options):
    from data_prep.check import report

    return report.run(options)


def _show(options):
    from data_prep.contact_sheet import collect

    return collect.run(options)


if __name__ == "__main__":
    sys.exit(main())
