"""Devices asked = devices used: decided before TensorFlow is imported, checked again once it sees them."""

import os
from typing import Any, List, NamedTuple, Optional, Tuple

from common.errors import PREFLIGHT_FAILED, Refused
from common.text import counted
from tfod_train.devices.gpus import look as look_at_gpus

DEFAULT_VIRTUAL_CPUS = 2


class Devices(NamedTuple):
    """The devices of a run; `names` are TensorFlow device names, one a replica or clone."""

    kind: str
    count: int  # type: ignore[assignment]  # a tuple's own method, which nobody calls
    cuda_visible_devices: str
    names: Tuple[str, ...]


def gpus_of_this_machine() -> List[Tuple[str, str]]:
    """(uuid, name) of each GPU that the driver shows; empty where there is no driver or no GPU."""
    return [(gpu.uuid, gpu.name) for gpu in look_at_gpus().gpus]


def visible(gpus: List[Tuple[str, str]], cuda_visible_devices: Optional[str]) -> List[str]:
    """The GPUs CUDA would let this process use, as entries for CUDA_VISIBLE_DEVICES.

    CUDA reads indices or (prefixes of) UUIDs and stops at the first it does not know.

    Args:
        gpus: (uuid, name) of each.
        cuda_visible_devices: the variable's text; None for all.
    """
    if cuda_visible_devices is None:
        return [str(index) for index in range(len(gpus))]
    entries: List[str] = []
    for entry in (part.strip() for part in cuda_visible_devices.split(",")):
        known = (
            (int(entry) < len(gpus))
            if entry.isdigit()
            else (entry.startswith("GPU-") and any(uuid.startswith(entry) for uuid, _ in gpus))
        )
        if not known:
            break
        entries.append(entry)
    return entries


def choose(settings: Any, gpus: List[Tuple[str, str]]) -> Devices:
    """The devices to train on.

    Args:
        settings: Settings, a neighbour's type.
        gpus: (uuid, name) of each of this machine.

    Raises:
        Refused: with exit code 3 when there are fewer devices than asked for.
    """
    if settings.device.value == "cpu":
        count = settings.num_gpus or DEFAULT_VIRTUAL_CPUS
        return Devices("cpu", count, "-1", tuple(f"/cpu:{index}" for index in range(count)))
    entries = visible(gpus, settings.cuda_visible_devices)
    if not entries:
        if (settings.cuda_visible_devices or "").startswith("MIG-"):
            raise Refused(
                f"CUDA_VISIBLE_DEVICES={settings.cuda_visible_devices} is a part of a GPU, as MIG makes them, "
                "and trainings use whole ones.",
                "Name a GPU by its index or its UUID (nvidia-smi -L).",
                PREFLIGHT_FAILED,
            )
        restricted = f" among CUDA_VISIBLE_DEVICES={settings.cuda_visible_devices}" if gpus else ""
        raise Refused(
            f"DEVICE=gpu, but no GPU is visible{restricted}.",
            "Set DEVICE=cpu to train on virtual CPU devices, or check the driver with nvidia-smi.",
            PREFLIGHT_FAILED,
        )
    count = settings.num_gpus or len(entries)
    if count > len(entries):
        raise Refused(
            f"NUM_GPUS={count}, but {counted(len(entries), 'GPU is', 'GPUs are')} visible.",
            f"Set NUM_GPUS={len(entries)}, or make more GPUs visible (TRAIN_GPUS, CUDA_VISIBLE_DEVICES).",
            PREFLIGHT_FAILED,
        )
    return Devices("gpu", count, ",".join(entries[:count]), tuple(f"/gpu:{index}" for index in range(count)))


def for_evaluation(settings: Any, gpus: List[Tuple[str, str]]) -> Devices:
    """One device: the first visible GPU, or the CPU."""
    return choose(settings.copy(update={"num_gpus": 1}), gpus)


def entries(devices: Devices) -> List[str]:
    """The GPUs of a run as CUDA_VISIBLE_DEVICES names them, in the order of its devices; [] without GPUs."""
    return devices.cuda_visible_devices.split(",") if devices.kind == "gpu" else []


def hide_the_rest(devices: Devices) -> None:
    """Lets CUDA see only the GPUs of the run. Must be called before TensorFlow is imported: it reads this once."""
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    os.environ["CUDA_VISIBLE_DEVICES"] = devices.cuda_visible_devices


def session_config(devices: Devices) -> Any:
    """ConfigProto for every session of a run.

    Soft placement stays on: summaries, string and lookup kernels exist on the CPU only. What it would hide, a device
    that is not there, `check_session_devices` refuses.
    """
    import tensorflow.compat.v1 as tf

    config = tf.ConfigProto(allow_soft_placement=True)
    # Grappler goes over a graph once, not twice: for each kind of call before the first step that is a second or more.
    # benchmarks.startup measures it; the steps are as fast.
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1  # RewriterConfig.ONE
    config.gpu_options.allow_growth = True
    if devices.kind == "cpu":
        config.device_count["CPU"] = devices.count
    return config


def check_session_devices(devices: Devices) -> None:
    """Lets a run go on where TensorFlow really has its devices (it may lack a CUDA library, say).

    Raises:
        Refused: exit code 3; it has fewer.
    """
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session(config=session_config(devices)) as session:
        there = [device.name for device in session.list_devices() if device.device_type == devices.kind.upper()]
    if len(there) < devices.count:
        kind = devices.kind.upper()
        asked = counted(devices.count, f"{kind} device is", f"{kind} devices are")
        raise Refused(
            f"{asked} asked for, but TensorFlow has {len(there)}.",
            "For GPUs, look in train.log for a CUDA library that could not be loaded: the image or the driver does "
            "not fit; DEVICE=cpu trains without GPUs.",
            PREFLIGHT_FAILED,
        )
