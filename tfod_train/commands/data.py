"""entrypoint.py data: makes the dataset that the settings mean, or the one that is named."""

import os
from typing import List

from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from common.json_files import read_json
from data_prep import formats as data_formats
from tfod_train.config import dataset, records
from tfod_train.process.console import Console
from tfod_train.settings import Settings

# Of the user's own images; what data_prep makes of them is trained on with DATASET=<the folder>.
FORMATS = tuple(each.name for each in data_formats.FORMATS if not each.published) + (
    "dataset",
    "adopt",
    "check",
    "show",
)


def make(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Makes a dataset under DATA_DIR; nothing is done where it is there.

    Args:
        settings: DATASET and DATA_DIR count.
        console: not used; data_prep prints for itself.
        arguments: [] for the dataset of the settings, else its name and data_prep's options.

    Returns:
        exit code.

    Raises:
        Refused: there is no such dataset, or it cannot be made here.
    """
    from data_prep.__main__ import main as data_prep

    name = arguments[0] if arguments else dataset.locate(settings)[0]
    if name not in dataset.NAMED and not arguments:
        return 0  # a folder of the user's own
    if name not in dataset.NAMED + FORMATS:
        raise Refused(
            f"There is no dataset {name} to make.",
            f"Name one of {', '.join(dataset.NAMED + FORMATS)}.",
            SETTINGS_REFUSED,
        )
    options = arguments[1:]
    if name in FORMATS:
        return data_prep(arguments)  # --source and --out are the user's own
    if name == "pets" and not arguments:
        if not os.path.exists(os.path.join(settings.data_dir, "pets", dataset.DATASET_FILE)):
            raise Refused(
                f"DATASET=pets, but {os.path.join(settings.data_dir, 'pets')} holds no dataset.json.",
                "Make it first: make pets-tfrecord, or docker compose run --rm data pets.",
                PREFLIGHT_FAILED,
            )
        return 0
    if name == "pets" and "--source" not in options and "--download" not in options:
        options = options + ["--download"]
    return data_prep([name, "--out", os.path.join(settings.data_dir, name)] + options)


def ensure(settings: Settings, console: Console) -> None:
    """Makes mini-pets where it is meant and missing, and reads records that the config names, where nobody did yet."""
    own = dataset.own_records(settings)
    if own:
        _adopt(own, settings, console)
        return
    name, folder, _ = dataset.locate(settings)
    if name == "mini-pets" and not os.path.exists(os.path.join(folder, dataset.DATASET_FILE)):
        console.say(f"Making the built-in dataset mini-pets in {folder}.")
        from data_prep.mini_pets import generate

        generate.prepare(folder)


def _adopt(own, settings, console):
    """Describes records that are described nowhere, or were changed since."""
    from data_prep.adopt import command
    from data_prep.check import quick

    if records.dataset_of(own):
        return
    folder = own.folder(settings.data_dir)
    description = read_json(os.path.join(folder, dataset.DATASET_FILE)) or {}
    if description.get("made_from") == own.made_from() and not quick.quick(folder):
        return
    console.say(f"Reading the records that {own.config} names, once; what is found is kept in {folder}.")
    command.adopt(own.patterns, own.label_map, folder)
