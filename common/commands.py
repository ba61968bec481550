"""COMMANDS: what people run. One more is a module in tfod_train/commands and a line here, a make target and a service.

entrypoint.py, the launcher (make) and docker/run_as_owner.py read this list; a test holds Makefile and compose.yaml
against it.
"""

from typing import Dict, NamedTuple, Optional

# Folders of a container that hold the host's.
RUNS, DATA = "/runs", "/data"


class Command(NamedTuple):
    """A command.

    text: what it does, for the list of all. function: module:function(settings, console, arguments) -> exit code.
    options: it has a parser of its own, which knows --help. devices: it chooses devices, and takes settings alone.
    writes: the folder of a container that it must be able to write, None for none. has_out: it takes --out.
    default_out: where --out is when it is not given; None for a folder that is always the host's.
    """

    text: str
    function: str
    options: bool = False
    devices: bool = False
    writes: Optional[str] = None
    has_out: bool = False
    default_out: Optional[str] = None


COMMANDS: Dict[str, Command] = {
    "train": Command(
        "train on all devices asked for, then evaluate", "tfod_train.commands.train:train", devices=True, writes=RUNS
    ),
    "eval": Command(
        "evaluate the checkpoints of a run (EVAL_MODE: once, continuous, until_step)",
        "tfod_train.commands.eval:evaluate",
        devices=True,
        writes=RUNS,
    ),
    "preflight": Command(
        "look whether a training can work here, without TensorFlow [--json]",
        "tfod_train.commands.preflight:preflight",
        devices=True,
        writes=RUNS,
    ),
    "config": Command(
        "write a pipeline config that fits a dataset: [--model NAME] [--out FILE]",
        "tfod_train.commands.config:make",
        options=True,
        writes=DATA,
        has_out=True,
    ),
    "report": Command(
        "show a run on one page, report.html, without TensorFlow", "tfod_train.commands.report:report", writes=RUNS
    ),
    "diff": Command(
        "say what tells two runs apart: RUN_A RUN_B [--all] [--exit-code]",
        "tfod_train.commands.diff:diff",
        options=True,
    ),
    "export": Command(
        "write a frozen graph, a SavedModel and a TFLite file of a checkpoint",
        "tfod_train.commands.export:export",
        options=True,
        writes=RUNS,
        has_out=True,
    ),
    "detect": Command(
        "draw what an exported model finds on images",
        "tfod_train.commands.detect:detect",
        options=True,
        has_out=True,
        default_out="detections",
    ),
    "data": Command(
        "make a dataset: mini-pets, pets [--source DIR], dataset --source DIR --out DIR, or adopt --records FILES ...",
        "tfod_train.commands.data:make",
        writes=DATA,
        has_out=True,
    ),
}
