"""Finds the dataset a run trains on and reads its dataset.json."""

import glob
import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from common.json_files import read_json
from common.text import nearest
from data_prep.writer.dataset import DATASET_FILE
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

    def pattern(self, split: str) -> str:
        """The file pattern of a split's records: "train" or "val"."""
        return os.path.join(self.folder, self.description["splits"][split]["pattern"])

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
        pets = os.path.join(settings.data_dir, "pets")
        if os.path.exists(os.path.join(pets, DATASET_FILE)):
            return "pets", pets, f"found in {pets}; DATASET=mini-pets for the built-in one"
        return "mini-pets", os.path.join(settings.data_dir, "mini-pets"), "built in; make pets-tfrecord for real pets"
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
        raise Refused(
            f"The records in {folder} cannot be trained on: {'; '.join(problems)}",
            f"Delete {folder} and make it again. {how_to_make}",
            PREFLIGHT_FAILED,
        )
    dataset = Dataset(name, folder, found_how, description)
    for split in ("train", "val"):
        if not glob.glob(dataset.pattern(split)):
            raise Refused(f"No file matches {dataset.pattern(split)}.", how_to_make, PREFLIGHT_FAILED)
    return dataset
