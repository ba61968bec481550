"""entrypoint.py report: the page of a run anew, for instance after a kill."""

from typing import List

from common.errors import refuse_arguments
from tfod_train.process.console import Console
from tfod_train.report import page
from tfod_train.run.run_dir import RunDir
from tfod_train.settings import Settings


def report(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Writes RUN_DIR/report.html anew. Returns the exit code, 0."""
    refuse_arguments("report", arguments)
    console.say(f"Wrote {page.write(RunDir.of(settings))}.")
    return 0
