"""Checkpoints of TensorFlow's detection model zoo by name: FINE_TUNE_CHECKPOINT=ssd_mobilenet_v1_coco.

Fetched once into DATA_DIR/zoo/, by size and sha256 of what was published; whatever server or hand it comes from.
"""

import os
import re
import shutil
from typing import Callable, Dict, List, NamedTuple, Optional

from common import files
from common.errors import PREFLIGHT_FAILED, DataError, Refused
from common.text import nearest

FOLDER = "zoo"
SOURCE = "http://download.tensorflow.org/models/object_detection/"
CHECKPOINT = "model.ckpt"
# Every one was trained as a detector on COCO: the whole model's variables are in it, under a detector's names.
CHECKPOINT_TYPE = "detection"


class Published(NamedTuple):
    """What says that an archive is the published one, wherever it comes from."""

    bytes: int
    sha256: str


ZOO = {
    "ssd_mobilenet_v1_coco_2018_01_28": Published(
        76541073, "8788f89108519fd1102b8a5c2ac861cf6d86603571b6ce5bbd1c245b7fe005e3"
    ),
    "ssd_mobilenet_v2_coco_2018_03_29": Published(
        187925923, "b9380178b2e35333f1a735e39745928488bdabeb9ed20bc6fa07af8172cb5adc"
    ),
    "faster_rcnn_resnet50_coco_2018_01_28": Published(
        381355771, "0f898f96d6c416de192c516fb6fa773ae9f5ee253eb2ab4015445fbd6eb0ab76"
    ),
    "faster_rcnn_resnet101_coco_2018_01_28": Published(
        593445323, "ef3b36b3bc3c4057362a62e40b89dbdbef3dbb0c91f2f7df43967920d24821e5"
    ),
    "ssd_resnet50_v1_fpn_shared_box_predictor_640x640_coco14_sync_2018_07_03": Published(
        366947246, "b5ff24a4a013130ebbbf5da71fbbd05a5df27825184632899650f45833ffb66b"
    ),
}


def names() -> List[str]:
    """What a user may write: each name without its date, and with it."""
    return sorted(short_name(name) for name in ZOO) + sorted(ZOO)


def short_name(name: str) -> str:
    return re.sub(r"_\d{4}_\d\d_\d\d$", "", name)


def find(asked: Optional[str]) -> Optional[str]:
    """The full name of a zoo model; None where `asked` is none, and so a path."""
    return next((name for name in ZOO if asked in (name, short_name(name))), None)


def near(asked: str) -> Optional[str]:
    """The name that was probably meant; None for paths and for what resembles none."""
    return nearest(asked, names(), cutoff=0.75) if os.sep not in asked else None


def checkpoint(name: str, data_dir: str) -> str:
    """Where the checkpoint of a zoo model is, once it was fetched: path without .index."""
    return os.path.join(data_dir, FOLDER, name, CHECKPOINT)


def awaited(path: str) -> Optional[str]:
    """The full name of the zoo model whose checkpoint `path` is going to be; None where it is there."""
    name = os.path.basename(os.path.dirname(path))
    return (
        name
        if name in ZOO and path.endswith(os.path.join(FOLDER, name, CHECKPOINT)) and not os.path.isfile(path + ".index")
        else None
    )


def _need_space(folder, needed):
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Refused(
            f"{folder} has {free // 2**20} MB free; to fetch and unpack the checkpoint takes "
            f"{int(needed) // 2**20} MB.",
            "Free some space, or set DATA_DIR to another disk.",
            PREFLIGHT_FAILED,
        )


def _beginning(name, archive, path):
    if not os.path.exists(path):
        return f"Fetching {name} of the model zoo ({archive.bytes // 10**6} MB) into {os.path.dirname(path)}, once."
    if os.path.getsize(path) == archive.bytes:
        return f"Unpacking {path}."
    return f"{path} has {os.path.getsize(path)} bytes instead of the published {archive.bytes}; it is fetched anew."


def ensure(
    asked: Optional[str],
    data_dir: str,
    say: Callable[[str], None],
    source: str = SOURCE,
    zoo: Optional[Dict[str, Published]] = None,
) -> None:
    """Fetches the zoo model that `asked` names, where it names one and it is not there yet. One process at a time.

    Args:
        asked: FINE_TUNE_CHECKPOINT.
        data_dir: DATA_DIR.
        say: function(sentence).
        source: URL that the archives lie below; for tests.
        zoo: as ZOO; for tests.

    Raises:
        Refused: exit code 3; it cannot be downloaded, with what to do by hand, or is not what was published.
    """
    name = find(asked)
    if name is None or os.path.isfile(checkpoint(name, data_dir) + ".index"):
        return
    from common import download  # requests takes a while to import

    archive, folder = download.Archive(name + ".tar.gz", *(zoo or ZOO)[name]), os.path.join(data_dir, FOLDER)
    path = os.path.join(folder, archive.name)
    try:
        with files.locked(folder):
            if os.path.isfile(checkpoint(name, data_dir) + ".index"):
                return  # the process we waited for fetched it
            files.remove_temporaries(folder)
            _need_space(folder, 2.5 * archive.bytes)
            say(_beginning(name, archive, path))
            download.fetch(archive, [source + archive.name], path)
            download.unpack(path, folder, name)
            os.unlink(path)
    except DataError as error:
        raise Refused(
            error.what,
            f"Put {source}{archive.name}, as it is, into {folder} and run the same command again, or set "
            "FINE_TUNE_CHECKPOINT=none to train from scratch.",
            PREFLIGHT_FAILED,
        ) from error
    if not os.path.isfile(checkpoint(name, data_dir) + ".index"):
        raise Refused(
            f"{os.path.join(folder, name)} holds no {CHECKPOINT}.index.",
            "Delete that folder and run the same command again.",
            PREFLIGHT_FAILED,
        )
