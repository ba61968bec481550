"""What the container and `make` run: a command name -> one function. Settings come from the environment."""

import sys

COMMANDS = {
    "train": ("train on all devices asked for, then evaluate", "tfod_train.commands.train", "train"),
    "eval": (
        "evaluate the checkpoints of a run (EVAL_MODE: once, continuous, until_step)",
        "tfod_train.commands.eval",
        "evaluate",
    ),
    "export": (
        "write a frozen graph, a SavedModel and a TFLite file of a checkpoint",
        "tfod_train.commands.export",
        "export",
    ),
    "detect": ("draw what an exported model finds on pictures", "tfod_train.commands.detect", "detect"),
    "report": ("tell a run on one page, report.html, without TensorFlow", "tfod_train.commands.report", "report"),
    "preflight": (
        "look whether a training can work here, without TensorFlow [--json]",
        "tfod_train.commands.preflight",
        "preflight",
    ),
    "diff": ("say what tells two runs apart: RUN_A RUN_B [--all] [--exit-code]", "tfod_train.commands.diff", "diff"),
    "data": (
        "make a dataset: mini-pets, pets [--source DIR], voc or coco --source DIR --out DIR",
        "tfod_train.commands.data",
        "make",
    ),
}
SETTINGS = "Settings are environment variables: docs/settings.md lists them."
# Their own parsers say what they take.
WITH_OPTIONS = ("export", "detect", "diff")


def usage():
    lines = ["usage: python entrypoint.py COMMAND", ""]
    lines += [f"  {name:<9} {text}" for name, (text, _, _) in sorted(COMMANDS.items())]
    return "\n".join(lines + ["", SETTINGS])


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else 2
    name = arguments[0]
    if name not in COMMANDS:
        sys.stderr.write(f"There is no command {name}.\n{usage()}\n")
        return 2
    if arguments[1:2] in (["-h"], ["--help"]) and name not in WITH_OPTIONS:
        print(f"{name}: {COMMANDS[name][0]}\n{SETTINGS}")
        return 0
    from importlib import import_module

    try:
        from tfod_train.process.command_runner import run
    except ImportError as missing:
        sys.stderr.write(
            f"{missing.name} is not installed for {sys.executable}.\nUse make train, or .venv/bin/python "
            "after make setup.\n"
        )
        return 3
    _, module, function = COMMANDS[name]
    return run(lambda settings, console: getattr(import_module(module), function)(settings, console, arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
