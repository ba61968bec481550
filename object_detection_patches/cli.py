"""The command line: fetch, verify, apply, list, diff and docs."""

import argparse
import itertools
import os
import shutil
import signal
import sys
import textwrap
from typing import Callable, Sequence

from object_detection_patches import page, source, tree
from object_detection_patches.errors import Refused, SourceError
from object_detection_patches.patch import Patch


def main(arguments: Sequence[str]) -> int:
    """Runs one command.

    Args:
        arguments: those of the command line, without the program's name.

    Returns:
        The exit code: 0 done, 2 a wrong command, 3 a tree or package that is not right, 141 nothing reads the output
        any more.
    """
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
        what = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
        print(f"error: {what}. Correct that and run the same command again.", file=sys.stderr)
        return 3


def _run(arguments: Sequence[str]) -> int:
    try:
        options = _parser().parse_args(arguments)
        return options.run(options)
    finally:
        sys.stdout.flush()  # here, where it can be told that it fails


def _parser() -> argparse.ArgumentParser:
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
    docs = commands.add_parser("docs", help="print docs/patches.md, which is made from the patches")
    docs.set_defaults(run=_docs)
    return parser


def _command(
    commands: "argparse._SubParsersAction", name: str, run: Callable[[argparse.Namespace], int], text: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    command.add_argument("dir", metavar="DIR", help="the folder that holds object_detection, nets, ...")
    command.set_defaults(run=run)
    return command


def _choice(command: argparse.ArgumentParser) -> None:
    command.add_argument("--only", metavar="NAME", action="append", default=[], help="this patch alone; repeatable")
    command.add_argument(
        "--without", metavar="NAME", action="append", default=[], help="all patches but this; repeatable"
    )


def _fetch(options: argparse.Namespace) -> int:
    root = options.dir
    if os.path.isdir(root) and os.listdir(root):
        if not os.path.isdir(os.path.join(root, "object_detection")):
            raise SourceError(f"{root} holds other files, and not the API.", "Name a new or an empty folder.")
        foreign = tree.verify(root).foreign
        if foreign:
            raise SourceError(
                f"{root} is already there and {len(foreign)} of its files are not of the pinned API: "
                f"{', '.join(foreign[:3])}.",
                "Remove the folder to fetch it again.",
            )
        print(f"{root} already holds {source.PACKAGE} {source.VERSION}")
        return 0
    source.fetch(root, options.wheel)
    print(f"fetched {source.PACKAGE} {source.VERSION} (upstream commit {source.COMMIT[:8]}) into {root}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    report = tree.verify(options.dir)
    print(
        f"{options.dir}: {len(report.pristine)} pristine, {len(report.patched)} patched, "
        f"{len(report.outdated)} patched by another version, {len(report.foreign)} foreign"
    )
    if report.patches:
        print("patches: " + ", ".join(report.patches))
    for state in ("patched", "outdated", "foreign"):
        for path in getattr(report, state):
            missing = not os.path.exists(os.path.join(options.dir, path))
            print(f"{'missing' if missing else state:9} {path}")
    if report.outdated:
        print("Run apply again to bring the outdated files up to date.")
    return 3 if report.foreign else 0


def _apply(options: argparse.Namespace) -> int:
    patches = tree.select(options.only, options.without)
    written = tree.apply(options.dir, patches)
    for path in written:
        print(f"wrote {path}")
    print(f"{options.dir} holds {len(patches)} patches{'' if written else ', as before'}")
    return 0


def _diff(options: argparse.Namespace) -> int:
    for line in tree.diff(options.dir, tree.select(options.only, options.without)):
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape"))
    return 0


def _list(options: argparse.Namespace) -> int:
    patches = tree.select()
    columns = shutil.get_terminal_size((140, 24)).columns
    if options.why:
        for patch in patches:
            print(f"{patch.name}\n{_why(patch, columns)}")
    else:
        print(_table(patches, columns))
    return 0


def _docs(options: argparse.Namespace) -> int:
    print(page.markdown(tree.select()), end="")
    return 0


def _why(patch: Patch, columns: int) -> str:
    facts = [
        ("Symptom", patch.symptom),
        ("Cause", patch.cause),
        ("What we do", patch.cure),
        ("Files", ", ".join(patch.files + patch.adds)),
        ("Reports", ", ".join(patch.reports)),
    ]
    return "\n".join(
        textwrap.fill(f"{name}: {text}", columns, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for name, text in facts
        if text
    )


def _table(patches: Sequence[Patch], columns: int) -> str:
    name_width = max(len(patch.name) for patch in patches) + 2
    path_width = max(len(path) for patch in patches for path in patch.files + patch.adds) + 2
    rows = [("NAME", "FILES", "CURES")]
    for patch in patches:
        paths = patch.files + patch.adds
        lines = textwrap.wrap(patch.symptom, max(30, columns - name_width - path_width))
        for name, path, line in itertools.zip_longest([patch.name], paths, lines, fillvalue=""):
            rows.append((name, path, line))
    return "\n".join(f"{name:{name_width}}{path:{path_width}}{line}".rstrip() for name, path, line in rows)
