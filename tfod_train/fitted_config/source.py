"""Which pipeline config a training takes where none is named: a known default, the dataset's own, or a written one.

A written one belongs to the run: RUN_DIR/fitted.config, which is taken again when the run is resumed.
"""

import os
from typing import NamedTuple, Optional

from common.errors import SETTINGS_REFUSED, Refused
from tfod_train.config import pipeline
from tfod_train.config.dataset import Dataset
from tfod_train.fitted_config import models, write
from tfod_train.run.run_dir import RunDir
from tfod_train.settings import Settings

NAME = "fitted.config"
ENDING = ".config"


class Source(NamedTuple):
    """path: of the config. text: what is to be written there before it is used, None where it is there.

    how: a sentence on why it is this one, "" where it was named or is a default.
    """

    path: str
    text: Optional[str] = None
    how: str = ""


def of(settings: Settings, dataset: Dataset) -> Source:
    """The Source of a training's config; writes nothing.

    Raises:
        Refused: PIPELINE_CONFIG is no file, or the dataset's folder holds several configs.
    """
    if settings.pipeline_config or pipeline.default(settings, dataset.name):
        return Source(pipeline.find(settings, dataset.name))
    beside = in_folder(dataset.folder)
    if beside:
        return Source(beside, how=f"Config {beside}, which lies in the dataset's folder.")
    path = RunDir.of(settings).file(NAME)
    if os.path.isfile(path):
        return Source(path, how=f"Config {path}, which was written for {dataset.name} before.")
    written = write.text_for(dataset, models.DEFAULT[settings.device.value], settings.data_dir, path)
    return Source(
        path,
        written.text,
        f"There is no config for {dataset.name}: a training writes one that fits its boxes, {written.model} in {path}. "
        f"Change it there or write another: make config DATASET={dataset.folder} MODEL=...",
    )


def in_folder(folder: str) -> Optional[str]:
    """The one config in a dataset's folder, None for none.

    Raises:
        Refused: there are several.
    """
    names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING))
    if len(names) > 1:
        raise Refused(
            f"{folder} holds several configs: {', '.join(names[:5])}.",
            f"Say which one is meant: PIPELINE_CONFIG={os.path.join(folder, names[0])}.",
            SETTINGS_REFUSED,
        )
    return os.path.join(folder, names[0]) if names else None
