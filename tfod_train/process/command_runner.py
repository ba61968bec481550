"""Runs a command and turns the way it ends into sentences and an exit code."""

import os
import sys
from typing import Callable, Mapping, Optional

from common.errors import Refused
from tfod_train import settings as settings_module
from tfod_train.process import resource_errors
from tfod_train.process.console import Console
from tfod_train.settings import Settings

INTERRUPTED = 130


def run(command: Callable[[Settings, Console], int], environ: Optional[Mapping[str, str]] = None) -> int:
    """Reads the settings and runs command(settings, console).

    Args:
        command: returns an exit code.
        environ: mapping; None means os.environ.

    Returns:
        The exit code; see the table in the README.
    """
    console = Console()
    debug = False
    try:
        settings = settings_module.read(environ)
        debug = settings.log_level.value == "debug"
        return command(settings, console)
    except Refused as refused:
        console.log_traceback()
        if debug:
            import traceback

            console.error(traceback.format_exc().rstrip())
        console.error(f"{refused.what}\n{refused.do}")
        return refused.code
    except Exception as error:
        import traceback

        console.log_traceback()
        known = resource_errors.in_words(error)
        if known:
            console.error(f"{known.what}\n{known.do}")
            return known.code
        console.error(traceback.format_exc().rstrip() if debug else _one_line(error))
        where = f"the traceback is in {console.log_path}" if console.log_path else "LOG_LEVEL=debug shows more"
        console.error(f"This is an unexpected error; {where}.")
        return 1
    except KeyboardInterrupt:
        console.error("Stopped before anything was begun.")
        return INTERRUPTED
    finally:
        _flush()


def _flush():
    """Standard output may be a log on a full disk; Python would try again when it ends, and change the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _one_line(error):
    text = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {text if len(text) <= 300 else text[:297] + '...'}"
