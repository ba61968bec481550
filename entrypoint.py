"""What the container and `make` run: a command name -> one function. Settings come from the environment."""

import sys
from typing import List

from common.commands import COMMANDS
from common.text import did_you_mean

SETTINGS = "Settings are environment variables: docs/settings.md lists them."


def usage() -> str:
    """What `entrypoint.py --help` prints."""
    lines = ["usage: python entrypoint.py COMMAND", ""]
    lines += [f"  {name:<9} {command.text}" for name, command in sorted(COMMANDS.items())]
    return "\n".join(lines + ["", SETTINGS])


def main(arguments: List[str]) -> int:
    """Runs the command that the arguments name; returns its exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else 2
    name = arguments[0]
    if name not in COMMANDS:
        sys.stderr.write(f"There is no command {name}. {did_you_mean(name, COMMANDS, '')}\n{usage()}\n")
        return 2
    command = COMMANDS[name]
    if arguments[1:2] in (["-h"], ["--help"]) and not command.options:
        print(f"{name}: {command.text}\n{SETTINGS}")
        return 0
    from importlib import import_module

    try:
        from tfod_train.process.command_runner import run
    except ImportError as missing:
        sys.stderr.write(
            f"{missing.name} is not installed for {sys.executable}.\n"
            "Use make train, or .venv/bin/python after make setup.\n"
        )
        return 3
    module, function = command.function.split(":")
    return run(lambda settings, console: getattr(import_module(module), function)(settings, console, arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
