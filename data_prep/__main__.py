"""`python -m data_prep mini-pets|pets|check`: the command line of data_prep.

Exit codes: 0 done, 2 the arguments make no sense, 3 the data, the disk or the network is not as needed.
"""

import argparse
import os
import sys

from data_prep import files
from data_prep.errors import DataError, UsageError


def main(arguments=None):
    """Run a command; returns its exit code."""
    options = _parser().parse_args(arguments)
    _print_any_name()
    try:
        with files.errors_told():
            return options.run(options)
    except DataError as error:
        print("%s\n%s" % (error.what, error.do), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again: it ends as if it had not been stopped.",
              file=sys.stderr)
        return 130


def _print_any_name():
    """A terminal or a log that cannot show a name of the data gets escapes instead of ending the run."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not in Python 3.6, whose image has a UTF-8 locale
            stream.reconfigure(errors="backslashreplace")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m data_prep",
                                     description="Pictures and annotations to TFRecords.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True

    mini = commands.add_parser("mini-pets",
                               help="draw and convert the built-in dataset: 3 breeds, about 200 pictures")
    _add_output(mini, "data/mini-pets")
    mini.set_defaults(run=_mini_pets)

    pets = commands.add_parser("pets", help="convert Oxford-IIIT Pet: 37 breeds, 3,680 pictures")
    _add_output(pets, "data/pets")
    pets.add_argument("--source", metavar="DIR",
                      help="a folder with images/ and annotations/ (default: OUT/raw)")
    pets.add_argument("--download", action="store_true",
                      help="fetch the dataset into OUT/raw first (811 MB; goes on where it was cut off)")
    pets.add_argument("--boxes", choices=("faces",), default="faces",
                      help="what the boxes enclose (default: faces)")
    pets.add_argument("--max-skipped", type=float, default=0.02, metavar="SHARE",
                      help="share of pictures that may be unusable before the run fails (default: 0.02)")
    pets.set_defaults(run=_pets)

    _add_check(commands)
    return parser


def _add_check(commands):
    check = commands.add_parser("check", help="are these TFRecords, anybody's, fit for training?")
    check.add_argument("paths", metavar="PATH", nargs="+", help="a dataset folder, TFRecord files, or a pattern")
    check.add_argument("--label-map", metavar="FILE", help="the classes (default: the dataset folder's)")
    check.add_argument("--num-classes", type=int, metavar="N", help="what the model's num_classes will be")
    check.add_argument("--config", metavar="FILE", help="a pipeline config, for classes, input size and masks")
    check.add_argument("--input-size", metavar="N|WxH", help="the model's input: which boxes become too small?")
    check.add_argument("--decode", default="100", metavar="N|all",
                       help="pictures to decode to the last row, spread evenly (default: %(default)s)")
    check.add_argument("--json", action="store_true", help="print the report as JSON")
    check.set_defaults(run=_check)


def _add_output(parser, default):
    parser.add_argument("--out", default=default, metavar="DIR",
                        help="where the dataset goes (default: %(default)s)")
    parser.add_argument("--shards", type=int, default=10, metavar="N", help="files a split (default: 10)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core)")
    parser.add_argument("--force", action="store_true", help="convert again even if the dataset is complete")


def _mini_pets(options):
    from data_prep import mini_pets
    mini_pets.prepare(options.out, shards=options.shards, workers=options.workers, force=options.force)
    return 0


def _pets(options):
    if options.source and options.download:
        raise UsageError("--source and --download exclude each other.",
                         "Use --source for a dataset you have, --download for one you do not.")
    from data_prep import pets
    source = options.source or os.path.join(options.out, "raw")
    if options.download:
        from data_prep import download
        download.fetch_pets(source)
    pets.prepare(source, options.out, boxes=options.boxes, shards=options.shards, workers=options.workers,
                 max_skipped=options.max_skipped, force=options.force)
    return 0


def _check(options):
    from data_prep import check_report
    return check_report.run(options)


if __name__ == "__main__":
    sys.exit(main())
