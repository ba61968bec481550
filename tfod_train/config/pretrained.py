"""A fine_tune_checkpoint that is named by its folder, and the classes that a checkpoint was trained on."""

import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from google.protobuf import text_format
from object_detection.protos import pipeline_pb2

from common.errors import PREFLIGHT_FAILED, Refused
from common.json_files import read_json
from data_prep.tfrecord import label_map
from tfod_train.checkpoints import best, find, integrity

MANIFEST = "run.json"
CONFIG = "pipeline.config"
# What an export of ours, and what an export of the API's own holds.
EXPORT_DESCRIPTION = "export.json"
EXPORTED = "model.ckpt"
NAMES_SHOWN = 5


class Located(NamedTuple):
    """checkpoint: path without .index. how: which of a folder's it is, in words; "" where the path itself was named."""

    checkpoint: str
    how: str = ""


class Classes(NamedTuple):
    """ids: {name: id} as the checkpoint has them, {} where nobody knows; then `why` says it, as half a sentence."""

    ids: Dict[str, int]
    why: str = ""


def locate(named: str) -> Located:
    """The checkpoint that a path names: itself, or one of the folder's: the best that is kept, else the newest.

    Raises:
        Refused: it is a folder that holds none, or one of two readings.
    """
    if not os.path.isdir(named):
        return Located(named)
    folder = named.rstrip(os.sep) or os.sep
    if os.path.exists(folder + ".index"):
        raise Refused(
            f"fine_tune_checkpoint {named} is both a folder and a checkpoint (beside it is {folder}.index).",
            "Rename one of them, or name a checkpoint in the folder by its path without .index.",
        )
    try:
        return _of_folder(folder)
    except OSError as error:
        raise Refused(
            f"fine_tune_checkpoint {named} is a folder that cannot be read: {error.strerror}.",
            "Choose a folder that belongs to you, or change its owner.",
            PREFLIGHT_FAILED,
        ) from error


def refuse_own(checkpoint: str, run_dir: str) -> None:
    """Raises Refused for a checkpoint of the very run that is to begin from it."""
    own, folder = os.path.realpath(run_dir), os.path.realpath(os.path.dirname(checkpoint))
    if folder in (own, os.path.join(own, best.FOLDER)):
        raise Refused(
            f"fine_tune_checkpoint {checkpoint} is of RUN_DIR={run_dir} itself: to resume that run and to begin a new "
            "one from its weights are two things.",
            "To resume it leave FINE_TUNE_CHECKPOINT out; for a new run set RUN_DIR to another folder.",
        )


def keep_head(train: Any, set_: Callable[..., None]) -> None:
    """Restores the class heads too, where the config leaves that open and the checkpoint's classes are known.

    Args:
        train: TrainConfig.
        set_: function(message, field, value, why) that sets a field and says so.
    """
    field = "load_all_detection_checkpoint_vars"
    as_classifier = train.fine_tune_checkpoint_type == "classification"
    if not as_classifier and not train.HasField(field) and classes_of(train.fine_tune_checkpoint).ids:
        set_(train, field, True, "the checkpoint's classes are known, so its head is kept by class")


def classes_of(checkpoint: str) -> Classes:
    """The Classes of a checkpoint, from what lies beside it: run.json, else the label map that pipeline.config names.

    Raises:
        Refused: that run.json is not valid JSON.
    """
    folder = os.path.dirname(checkpoint)
    if _is_best(folder):
        folder = os.path.normpath(os.path.join(folder, os.pardir))
    try:
        manifest = read_json(os.path.join(folder, MANIFEST))
    except OSError as error:
        return Classes({}, f"{os.path.join(folder, MANIFEST)} cannot be read: {error.strerror}")
    if isinstance(manifest, dict) and "dataset" in manifest:
        ids = _recorded(manifest["dataset"])
        return Classes(ids, "" if ids else f"{os.path.join(folder, MANIFEST)} does not name them one by one")
    config = os.path.join(folder, CONFIG)
    if not os.path.isfile(config):
        return Classes({}, f"neither {MANIFEST} nor {CONFIG} is beside it")
    return _of_config(config, checkpoint)


def class_ids(path: str) -> Dict[str, int]:
    """{name: id} of a label map. Raises ValueError or OSError where it cannot be read."""
    return {name: id_ for id_, name in label_map.read(path).names.items()}


def _of_folder(folder):
    best_one = _best(folder)
    if best_one:
        return Located(best_one.checkpoint, f"the best of its evaluations, {best_one.metric} {best_one.value:.3f}")
    exported, steps = os.path.join(folder, EXPORTED), integrity.steps(folder)
    has_exported = os.path.exists(exported + ".index")
    if has_exported and steps:
        raise Refused(
            f"fine_tune_checkpoint {folder} holds {EXPORTED}.index and {EXPORTED}-{steps[-1]}.index.",
            "Name one of them, by its path without .index.",
        )
    if has_exported:
        return Located(exported, "the one in it")
    newest = find.newest_checkpoint(folder)
    torn = " ".join(find.torn_checkpoints(folder))
    if newest:
        unread = os.path.exists(os.path.join(folder, best.FOLDER, best.DESCRIPTION))
        why = "what is in best/ cannot be read" if unread else "no best one is kept"
        return Located(newest[0], f"the newest that can be read; {why}" + (f". {torn.rstrip('.')}" if torn else ""))
    if torn:
        raise Refused(
            f"fine_tune_checkpoint {folder} is a folder without a checkpoint that can be read: {torn}",
            "Name another run, or take its files from a backup.",
        )
    raise _without_a_checkpoint(folder)


def _best(folder):
    """The Kept of a run's folder, or of its best/ where that is named."""
    return best.kept(os.path.dirname(folder) if _is_best(folder) else folder)


def _is_best(folder):
    named = os.path.basename(os.path.abspath(folder))
    return named == best.FOLDER and os.path.exists(os.path.join(folder, best.DESCRIPTION))


def _without_a_checkpoint(folder):
    described = read_json(os.path.join(folder, EXPORT_DESCRIPTION))
    if isinstance(described, dict) and described.get("checkpoint"):
        return Refused(
            f"fine_tune_checkpoint {folder} is an export, which holds no checkpoint.",
            f"It was made of {described['checkpoint']}: set FINE_TUNE_CHECKPOINT to that, or to its run's folder.",
        )
    return Refused(
        f"fine_tune_checkpoint {folder} is a folder without a checkpoint (no {EXPORTED}-STEP.index, no "
        f"{EXPORTED}.index, no {best.FOLDER}/{best.DESCRIPTION}).",
        _what_else_is_in(folder),
    )


def _what_else_is_in(folder):
    names = sorted(os.listdir(folder))
    other = [name[: -len(".index")] for name in names if name.endswith(".index")]
    if other:
        return f"Name a checkpoint in it by its path: {_some(os.path.join(folder, name) for name in other)}."
    runs = [name for name in names if integrity.steps(os.path.join(folder, name))]
    if runs:
        return f"Name one of the runs in it: {_some(os.path.join(folder, name) for name in runs)}."
    return "Name the folder of a run that saved one, a checkpoint's path without .index, or none."


def _some(paths):
    paths = list(paths)
    more = len(paths) - NAMES_SHOWN
    return ", ".join(paths[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _recorded(dataset):
    """{name: id} as run.json has it; {} where it does not."""
    if not isinstance(dataset, dict):
        return {}
    names, ids = dataset.get("classes"), dataset.get("class_ids")
    if ids is None and isinstance(names, list):
        ids = dict(zip(map(str, names), range(1, len(names) + 1)))  # of an earlier version: they count from 1
        return ids if len(ids) == len(names) else {}
    return ids if isinstance(ids, dict) and _count_from_1(list(ids.values())) else {}


def _count_from_1(ids: List[Any]) -> bool:
    return all(isinstance(one, int) and one > 0 for one in ids) and len(set(ids)) == len(ids)


def _of_config(config, checkpoint):
    """Classes by the label map that a pipeline.config names, unless it was changed since the checkpoint was saved."""
    path, why = _label_map(config)
    if not path:
        return Classes({}, why)
    try:
        if os.path.getmtime(path) > os.path.getmtime(checkpoint + ".index"):
            return Classes({}, f"{path}, the label map of {config}, was changed after the checkpoint was saved")
        return Classes(class_ids(path))
    except OSError as error:
        return Classes({}, f"the label map {path} of {config} cannot be read ({error.strerror})")
    except ValueError as error:
        return Classes({}, f"the label map {path} of {config} cannot be read ({error})")


def _label_map(config: str) -> Tuple[Optional[str], str]:
    message = pipeline_pb2.TrainEvalPipelineConfig()
    try:
        with open(config, encoding="utf-8") as source:
            text_format.Parse(source.read(), message, allow_unknown_field=True)
    except (text_format.ParseError, UnicodeDecodeError, OSError):
        return None, f"{config} cannot be read"
    return message.train_input_reader.label_map_path or None, f"{config} names no label map"
