"""Records that a pipeline config names itself, where DATASET says nothing: they are what is trained on."""

import glob
import os
from typing import Any, Dict, List, NamedTuple, Optional

from common import ownership
from common.errors import SETTINGS_REFUSED, Refused
from common.project import PROJECT_DIR
from data_prep.tfrecord import label_map
from data_prep.writer import shards
from data_prep.writer.dataset import DATASET_FILE
from tfod_train.settings import Settings

# What the API's own sample configs have where a path belongs.
PLACEHOLDER = "PATH_TO_BE_CONFIGURED"
_DO = (
    f"Correct it there, or name a dataset with DATASET; {PLACEHOLDER} in its place means the dataset of the settings. "
    "(A container sees data/ and runs/ alone.)"
)


class Named(NamedTuple):
    """config: the file. patterns: {split: what its readers name}, files that are there. label_map: the file."""

    config: str
    patterns: Dict[str, List[str]]
    label_map: str

    @property
    def name(self) -> str:
        """The file's name without its ending; of a run's pipeline.config that of its folder."""
        stem = os.path.splitext(os.path.basename(self.config))[0]
        return os.path.basename(os.path.dirname(os.path.abspath(self.config))) if stem == "pipeline" else stem

    def folder(self, data_dir: str) -> str:
        """Where a training puts the description of the records."""
        return os.path.join(data_dir, f"{self.name}-adopted")

    def made_from(self) -> Dict[str, Any]:
        """What that description has as made_from while nothing has changed."""
        from data_prep.adopt import reading

        files = {split: sorted(_files(patterns)) for split, patterns in self.patterns.items()}
        return reading.made_from(files, self.label_map)


def filled_in(paths: Any) -> List[str]:
    """The paths that say something: neither empty nor the samples' placeholder."""
    return [path for path in paths if path and PLACEHOLDER not in path]


def find_config(named: str) -> Optional[str]:
    """Path of a config file: as given, else relative to the project (the image runs in /); None for none."""
    return next((path for path in (named, os.path.join(PROJECT_DIR, named)) if os.path.isfile(path)), None)


def named_by(settings: Settings, default_folder: str) -> Optional[Named]:
    """The records that PIPELINE_CONFIG names; None where DATASET is set, or it names none, or those of the default.

    Args:
        settings: what the user asked for.
        default_folder: of the dataset that is meant where nothing names one.

    Raises:
        Refused: they are not there, or records or a label map are missing.
    """
    path = find_config(settings.pipeline_config) if settings.pipeline_config and settings.dataset is None else None
    config = _parsed(path, settings) if path else None
    if path is None or config is None:
        return None
    given = {"train": _paths(config.train_input_reader), "val": _paths(*config.eval_input_reader[:1])}
    every = given["train"] + given["val"]
    if not every or all(os.path.realpath(os.path.dirname(one)) == os.path.realpath(default_folder) for one in every):
        return None
    _refuse_missing(path, given)
    return Named(path, given, _label_map(path, config))


def dataset_of(named: Named) -> Optional[str]:
    """The folder of a dataset.json whose records and classes these are, all of them; None where they are nobody's."""
    folders = {os.path.dirname(one) for patterns in named.patterns.values() for one in patterns}
    if len(folders) != 1:
        return None
    folder = folders.pop()
    description = ownership.read_object(os.path.join(folder, DATASET_FILE))
    try:
        same = all(
            _real(_files(patterns)) == _real(_files(shards.patterns(folder, description["splits"][split])))
            for split, patterns in named.patterns.items()
        )
        classes = label_map.read(named.label_map).names == label_map.read(_path_of_map(folder, description)).names
    except (KeyError, TypeError, ValueError, OSError):
        return None
    return folder if same and classes else None


def _path_of_map(folder, description):
    return os.path.join(folder, description["label_map"])


def _parsed(path, settings):
    """The config with CONFIG_OVERRIDE, None for what is none: that is said where the config is looked at."""
    from tfod_train.config import text_proto
    from tfod_train.config.override import Override

    try:
        with open(path) as source:
            config = text_proto.read(source.read(), path)
        Override(settings.config_override).merge(config, [])
    except (Refused, OSError, UnicodeDecodeError):
        return None
    return config


def _paths(*readers):
    return [path for reader in readers for path in filled_in(reader.tf_record_input_reader.input_path)]


def _refuse_missing(config, given):
    for patterns in given.values():
        for pattern in patterns:
            if not glob.glob(pattern):
                raise Refused(
                    f"{config} names the records {pattern}, which are not there, and DATASET names none.",
                    _DO,
                    SETTINGS_REFUSED,
                )
    for split, what, reader in (
        ("train", "to train on", "train_input_reader"),
        ("val", "to evaluate", "eval_input_reader"),
    ):
        if not given[split]:
            named = (given["train"] + given["val"])[0]
            raise Refused(
                f"{config} names the records {named}, and none {what}.",
                f"Name some in its {reader}, or name a dataset with DATASET.",
                SETTINGS_REFUSED,
            )


def _label_map(path, config):
    readers = [config.train_input_reader] + list(config.eval_input_reader[:1])
    named = [one for reader in readers for one in filled_in([reader.label_map_path])]
    for one in named:
        if not os.path.isfile(one):
            raise Refused(f"{path} names the label map {one}, which is not there.", _DO, SETTINGS_REFUSED)
    if not named:
        raise Refused(
            f"{path} names records, and no label map.",
            "Name it in train_input_reader.label_map_path.",
            SETTINGS_REFUSED,
        )
    contents = []
    for one in named:
        with open(one, "rb") as source:
            contents.append(source.read())
    if contents[0] != contents[-1]:
        raise Refused(
            f"{path} names two label maps that differ: {named[0]} and {named[-1]}.",
            "Name one for both readers.",
            SETTINGS_REFUSED,
        )
    return named[0]


def _files(patterns):
    return {name for pattern in patterns for name in glob.glob(pattern)}


def _real(files):
    return {os.path.realpath(name) for name in files}
