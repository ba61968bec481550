"""Finds the dataset a run trains on and reads its dataset.json."""

import glob
import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from common.json_files import read_json
from common.text import nearest
from data_prep.writer import shards
from data_prep.writer.dataset import DATASET_FILE
from tfod_train.config import records
from tfod_train.settings import Settings

NAMED = ("pets", "mini-pets")


class Dataset(NamedTuple):
    """A prepared dataset: `folder` holds the shards, the label map and dataset.json (`description`)."""

    name: str
    folder: str
    found_how: str
    description: Dict[str, Any]

    @property
    def label_map(self) -> str:
        return os.path.join(self.folder, self.description["label_map"])

    @property
    def classes(self) -> List[str]:
        return self.description["classes"]

    def patterns(self, split: str) -> List[str]:
        """The patterns of a split's records, or the files where they were adopted: "train", "val"."""
        return shards.patterns(self.folder, self.description["splits"][split])

    def files(self, split: str) -> List[str]:
        """The files of a split's records that are there, sorted."""
        return sorted({name for pattern in self.patterns(split) for name in glob.glob(pattern)})

    @property
    def mask_type(self) -> Optional[str]:
        """input_reader.mask_type of the masks in the records ("PNG_MASKS", "NUMERICAL_MASKS"), None without masks."""
        return self._config.get("mask_type") if self._config.get("load_instance_masks") else None

    @property
    def most_boxes(self) -> int:
        """Boxes of the image that has the most; 0 where a dataset.json of an earlier version does not say."""
        return self.description.get("most_boxes", 0)

    @property
    def _config(self):
        # A dataset.json of an earlier version names no fields: its records have no masks.
        return self.description.get("config", {})

    def examples(self, split: str) -> int:
        """Number of images in a split: "train" or "val"."""
        return self.description["splits"][split]["examples"]


def locate(settings: Settings) -> Tuple[str, str, str]:
    """(name, folder, how it was found) of the dataset the settings mean; the folder may not exist yet.

    Raises:
        Refused: DATASET is neither a known name nor a folder.
    """
    if settings.dataset is None:
        own = own_records(settings)
        if own is None:
            return _default(settings)
        described = records.dataset_of(own)
        return own.name, described or own.folder(settings.data_dir), f"the records that {own.config} names"
    if settings.dataset in NAMED:
        return settings.dataset, os.path.join(settings.data_dir, settings.dataset), f"DATASET={settings.dataset}"
    if os.path.isdir(settings.dataset):
        folder = settings.dataset.rstrip("/")
        return os.path.basename(os.path.abspath(folder)), folder, f"DATASET={settings.dataset}"
    near = nearest(settings.dataset, NAMED)
    raise Refused(
        f"DATASET={settings.dataset} is neither {' nor '.join(NAMED)} nor a folder.",
        f"Did you mean {near}?" if near else "Name a folder that holds a dataset.json.",
        SETTINGS_REFUSED,
    )


def own_records(settings: Settings) -> Optional[records.Named]:
    """The records that PIPELINE_CONFIG names, where they are trained on. Raises Refused where they cannot be."""
    return records.named_by(settings, _default(settings)[1])


def _default(settings):
    pets = os.path.join(settings.data_dir, "pets")
    if os.path.exists(os.path.join(pets, DATASET_FILE)):
        return "pets", pets, f"found in {pets}; DATASET=mini-pets for the built-in one"
    return "mini-pets", os.path.join(settings.data_dir, "mini-pets"), "built in; make pets-tfrecord for real pets"


def load(settings: Settings) -> Dataset:
    """The Dataset to use.

    Raises:
        Refused: exit code 3 when it is missing, incomplete, or its shards do not pass data_prep's quick check.
    """
    name, folder, found_how = locate(settings)
    how_to_make = {"pets": "Make it with: make pets-tfrecord.", "mini-pets": "Make it with: make mini-pets."}.get(
        name, "Make it with: python -m data_prep --help."
    )
    description = read_json(os.path.join(folder, DATASET_FILE), how_to_make)
    if description is None:
        raise Refused(
            f"{folder} holds no dataset.json: the dataset is missing or was not finished.",
            how_to_make,
            PREFLIGHT_FAILED,
        )
    from data_prep.check import quick

    problems = quick.quick(folder)
    if problems:
        again = f"Delete {folder} and make it again. {how_to_make}"
        if description.get("adopted"):
            again = f"Adopt them again: {description.get('command', 'python -m data_prep adopt --help')}"
        raise Refused(f"The records in {folder} cannot be trained on: {'; '.join(problems)}", again, PREFLIGHT_FAILED)
    dataset = Dataset(name, folder, found_how, description)
    for split in ("train", "val"):
        if not dataset.files(split):
            raise Refused(f"No file matches {', '.join(dataset.patterns(split))}.", how_to_make, PREFLIGHT_FAILED)
    return dataset
