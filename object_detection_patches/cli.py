"""The command line: fetch, verify, apply, list and diff."""

import argparse
import os
import shutil
import signal
import sys
import textwrap

from object_detection_patches import source, tree
from object_detection_patches.errors import Refused, SourceError


def main(arguments):
    """Runs one command. Returns the exit code: 0 done, 2 a wrong command, 3 a tree or package that is not
    right, 141 nothing reads the output any more."""
    try:
        return _run(arguments)
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return refused.exit_code
    except BrokenPipeError:
        # As after `diff DIR | head`. What is left has nowhere to go, and Python would try again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(
            "error: {}. Correct that and run the same command again.".format(
                ": ".join(filter(None, (error.filename, error.strerror)))
            ),
            file=sys.stderr,
        )
        return 3


def _run(arguments):
    try:
        options = _parser().parse_args(arguments)
        return options.run(options)
    finally:
        sys.stdout.flush()  # here, where it can be told that it fails


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m object_detection_patches",
        description="Fetch the pinned TensorFlow 1 Object Detection API, check it and patch it.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True

    fetch = _command(commands, "fetch", _fetch, "download the pinned package and unpack it into DIR")
    fetch.add_argument("--wheel", metavar="FILE", help="the wheel, downloaded before")
    _command(commands, "verify", _verify, "tell pristine, patched and foreign files of DIR apart")
    _choice(_command(commands, "apply", _apply, "make DIR hold the patches (all, or those chosen)"))
    _choice(_command(commands, "diff", _diff, "print what the patches change in DIR, as a unified diff"))
    listing = commands.add_parser("list", help="show the patches")
    listing.add_argument("--why", action="store_true", help="say of each what is wrong, what it does and who met it")
    listing.set_defaults(run=_list)
    return parser


def _command(commands, name, run, text):
    command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    command.add_argument("dir", metavar="DIR", help="the folder that holds object_detection, nets, ...")
    command.set_defaults(run=run)
    return command


def _choice(command):
    command.add_argument("--only", metavar="NAME", action="append", default=[], help="this patch alone; repeatable")
    command.add_argument(
        "--without", metavar="NAME", action="append", default=[], help="all patches but this; repeatable"
    )


def _fetch(options):
    root = options.dir
    if os.path.isdir(root) and os.listdir(root):
        if not os.path.isdir(os.path.join(root, "object_detection")):
            raise SourceError(f"{root} holds other files, and not the API.", "Name a new or an empty folder.")
        foreign = tree.verify(root).foreign
        if foreign:
            raise SourceError(
                "{} is already there and {} of its files are not of the pinned API: {}.".format(
                    root, len(foreign), ", ".join(foreign[:3])
                ),
                "Remove the folder to fetch it again.",
            )
        print(f"{root} already holds {source.PACKAGE} {source.VERSION}")
        return 0
    source.fetch(root, options.wheel)
    print(f"fetched {source.PACKAGE} {source.VERSION} (upstream commit {source.COMMIT[:8]}) into {root}")
    return 0


def _verify(options):
    report = tree.verify(options.dir)
    print(
        "{}: {} pristine, {} patched, {} patched by another version, {} foreign".format(
            options.dir, *[len(paths) for paths in report[:4]]
        )
    )
    if report.patches:
        print("patches: " + ", ".join(report.patches))
    for state in ("patched", "outdated", "foreign"):
        for path in getattr(report, state):
            missing = not os.path.exists(os.path.join(options.dir, path))
            print("{:9} {}".format("missing" if missing else state, path))
    if report.outdated:
        print("Run apply again to bring the outdated files up to date.")
    return 3 if report.foreign else 0


def _apply(options):
    patches = tree.select(options.only, options.without)
    written = tree.apply(options.dir, patches)
    for path in written:
        print(f"wrote {path}")
    print("{} holds {} patches{}".format(options.dir, len(patches), "" if written else ", as before"))
    return 0


def _diff(options):
    for line in tree.diff(options.dir, tree.select(options.only, options.without)):
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape"))
    return 0


def _list(options):
    patches = tree.select()
    columns = shutil.get_terminal_size((140, 24)).columns
    if options.why:
        for patch in patches:
            print(
                "{}\n{}".format(
                    patch.NAME, textwrap.fill(patch.WHY, columns, initial_indent="  ", subsequent_indent="  ")
                )
            )
            print("  Files: {}".format(", ".join(patch.FILES + patch.ADDS)))
            if patch.REPORTS:
                print("  Reports: {}".format(", ".join(patch.REPORTS)))
        return 0
    width = max(len(patch.NAME) for patch in patches) + 2
    files = max(len(path) for patch in patches for path in patch.FILES + patch.ADDS) + 2
    cures = max(30, columns - width - files)
    row = f"{{:{width}}}{{:{files}}}{{}}"
    print(row.format("NAME", "FILES", "CURES"))
    for patch in patches:
        paths = list(patch.FILES + patch.ADDS)
        lines = textwrap.wrap(patch.CURES, cures)
        for index in range(max(len(paths), len(lines))):
            print(
                row.format(
                    patch.NAME if index == 0 else "",
                    paths[index] if index < len(paths) else "",
                    lines[index] if index < len(lines) else "",
                ).rstrip()
            )
    return 0
