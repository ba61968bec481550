"""entrypoint.py export: writes a checkpoint as files that other programs load."""

import argparse
import os
from typing import List

from tfod_train.export import export as exporting
from tfod_train.process.console import Console
from tfod_train.process.signals import StopRequest
from tfod_train.run.run_dir import RunDir
from tfod_train.settings import Settings


def export(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Exports a checkpoint; see docs/export.md. Returns the exit code, 0."""
    asked = _arguments(arguments)
    StopRequest(console.say_from_signal).install()
    chosen = exporting.choose(RunDir.of(settings), asked.checkpoint)
    out = exporting.write(chosen, settings, console, asked.out, asked.tflite)
    console.say(f"Exported to {out}: {', '.join(sorted(os.listdir(out)))}.")
    return 0


def _arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="entrypoint.py export",
        description="Writes a frozen graph, a SavedModel and, of SSD models, a TFLite "
        "file of a checkpoint of RUN_DIR, after comparing what each of them detects with what the checkpoint does.",
    )
    parser.add_argument(
        "--checkpoint", metavar="PATH|best|newest", help="default: best where the run was evaluated, else newest"
    )
    parser.add_argument("--out", metavar="DIR", help="a folder that is not there yet; default RUN_DIR/export/STEP")
    parser.add_argument("--no-tflite", dest="tflite", action="store_false", help="leave the TFLite file out")
    return parser.parse_args(arguments)
