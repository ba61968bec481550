"""The environment contract: every setting with its default, meaning and check.

Nothing else in this package reads a setting from os.environ.

`read()` validates everything at once, before TensorFlow is imported, and raises one `SettingsRefused` that lists all
errors. `.env.example` and docs/settings.md are generated from this module (`python -m tfod_train.settings`).
"""

import math
import os
import re
from enum import Enum
from typing import List, Mapping, Optional

from pydantic import BaseModel, Field, ValidationError, validator

from common import other_tools
from common.errors import Refused
from common.text import counted, nearest
from tfod_train.trainer import TRAINERS

# The choices are those of the list, so that a trainer is written down once.
Trainer = Enum("Trainer", {name: name for name in TRAINERS}, type=str)  # type: ignore


class Device(str, Enum):
    gpu = "gpu"
    cpu = "cpu"


class LearningRateScaling(str, Enum):
    none = "none"
    linear = "linear"
    sqrt = "sqrt"


class AllReduce(str, Enum):
    hierarchical_copy = "hierarchical_copy"
    nccl = "nccl"
    reduction_to_one_device = "reduction_to_one_device"


class EvalMode(str, Enum):
    once = "once"
    continuous = "continuous"
    until_step = "until_step"


class Split(str, Enum):
    val = "val"
    test = "test"


class Resume(str, Enum):
    auto = "auto"
    never = "never"
    require = "require"


class LogLevel(str, Enum):
    info = "info"
    debug = "debug"


class Settings(BaseModel):
    """What the user asked for. Frozen; field names are the variables' names in lower case."""

    trainer: Trainer = Field(
        Trainer("mirrored"),
        description="`mirrored` (Estimator + MirroredStrategy) or `clone` (in-graph clones, the API's legacy trainer)",
    )
    device: Device = Field(
        Device.gpu, description="`gpu`, or `cpu` (virtual CPU devices: the same code paths, for tests and laptops)"
    )
    num_gpus: Optional[int] = Field(
        None, ge=1, description="devices to train on; default all visible GPUs, with `DEVICE=cpu` 2 virtual devices"
    )
    ps_tasks: int = Field(
        0,
        ge=0,
        description="`clone` only: processes of this machine, without a GPU, that hold the variables; 0 keeps "
        "them on the CPU in the training's own process",
    )
    dataset: Optional[str] = Field(
        None,
        description="`pets`, `mini-pets`, or a folder with a `dataset.json`; default `pets` where it is "
        "prepared, else `mini-pets`",
    )
    data_dir: str = Field("data", description="the folder that holds the datasets")
    pipeline_config: Optional[str] = Field(
        None, description="a pipeline config file; default by dataset and device, see configs/"
    )
    run_dir: Optional[str] = Field(
        None,
        description="checkpoints, metrics, log, evaluation; default `runs/<dataset>-<trainer>`; resumed if it "
        "holds a matching run; in Docker a folder in `runs/`",
    )
    batch_size: Optional[int] = Field(
        None, ge=1, description="images per step over all devices together; default from the config"
    )
    batch_size_per_gpu: Optional[int] = Field(
        None, ge=1, description="images per step on each device; set this or `BATCH_SIZE`"
    )
    num_steps: Optional[int] = Field(None, ge=1, description="optimizer steps in all; default from the config")
    learning_rate: Optional[float] = Field(
        None,
        gt=0,
        description="the base rate of the config's schedule, the rest of which keeps its proportion to it; default "
        "from the config",
    )
    learning_rate_scaling: LearningRateScaling = Field(
        LearningRateScaling.none, description="`none`, `linear`, `sqrt`: the rate against the config's own batch size"
    )
    image_size: Optional[str] = Field(
        None,
        description="the model's input in px: `320` for both sides, or `WIDTHxHEIGHT`; with "
        "`keep_aspect_ratio_resizer` the shorter side, or `600x1024` with the limit of the longer one; default "
        "from the config",
    )
    config_override: Optional[str] = Field(
        None,
        description="a part of a pipeline config, for example `train_config { num_steps: 900 }`, merged into the "
        "config: single fields are replaced, lists grow",
    )
    use_moving_average: Optional[bool] = Field(
        None, description="`0` or `1` overrides the config, for training and its evaluations, and for an export"
    )
    seed: Optional[int] = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="a number: two runs with it on one machine end in the same checkpoint, "
        "bit for bit; the input is then read and augmented serially (docs/repeatable.md)",
    )
    fine_tune_checkpoint: Optional[str] = Field(
        None,
        description="a checkpoint's path, a run's folder (its best checkpoint, else its newest), a name of the model "
        "zoo (`ssd_mobilenet_v1_coco`, "
        "`ssd_mobilenet_v2_coco`, `faster_rcnn_resnet50_coco`, `faster_rcnn_resnet101_coco`, "
        "`ssd_resnet50_v1_fpn_shared_box_predictor_640x640_coco14_sync`; fetched into `DATA_DIR/zoo`), or `none` to "
        "start from scratch (docs/fine_tuning.md); default from the config",
    )
    plugins: Optional[str] = Field(
        None,
        description="modules of your own that are imported after TensorFlow, by name or as the path of a `.py` file, "
        "separated by commas: they add feature extractors or observers of steps (CONTRIBUTING.md)",
    )
    all_reduce: AllReduce = Field(
        AllReduce.hierarchical_copy,
        description="`mirrored` only: `hierarchical_copy`, `nccl` (GPUs only), `reduction_to_one_device`",
    )
    all_reduce_packs: int = Field(
        1,
        ge=0,
        description="`mirrored` only: packs the gradients travel in; 0 does not "
        "pack; without meaning for `reduction_to_one_device`",
    )
    checkpoint_every_steps: Optional[int] = Field(
        None, ge=1, description="save a checkpoint every so many steps; set this or `CHECKPOINT_EVERY_SECS`"
    )
    checkpoint_every_secs: Optional[int] = Field(
        None, ge=1, description="save a checkpoint every so many seconds; default 600"
    )
    keep_checkpoints: int = Field(5, ge=1, description="how many of the newest checkpoints are kept")
    eval_mode: EvalMode = Field(
        EvalMode.until_step,
        description="`entrypoint.py eval`: `once` (the newest checkpoint), `continuous`, or "
        "`until_step` (until the run's last step is evaluated)",
    )
    split: Split = Field(
        Split.val,
        description="`entrypoint.py eval`: `test` evaluates the dataset's test split, once, with the best checkpoint",
    )
    eval_at_end: bool = Field(True, description="`1` evaluates the last checkpoint when training ends")
    early_stop_patience: Optional[int] = Field(
        None,
        ge=1,
        description="evaluations without a better COCO mAP after which the evaluation beside a training "
        "asks it to stop at its next checkpoint; default never",
    )
    resume: Resume = Field(
        Resume.auto,
        description="`auto`, `never` (refuse a RUN_DIR that holds a run), `require` (refuse one that does not)",
    )
    stall_secs: int = Field(
        600,
        ge=1,
        description="a training that makes no step for so many seconds is ended with "
        "exit code 5, the stacks of all its threads in train.log; three times as long for the "
        "first step",
    )
    log_level: LogLevel = Field(LogLevel.info, description="`debug` shows TensorFlow's own log and tracebacks")
    cuda_visible_devices: Optional[str] = Field(
        None, description="as CUDA reads it: the GPUs this process may use (in compose: `TRAIN_GPUS`, `EVAL_GPUS`)"
    )
    tfod_image_id: Optional[str] = Field(
        None,
        description="the image that a container was started from, for run.json; "
        "`make` sets it, Docker itself tells a container nothing of it",
    )

    class Config:
        allow_mutation = False
        extra = "forbid"

    @validator("*", pre=True)
    def _strip(cls, value):
        return value.strip() if isinstance(value, str) else value

    @validator("learning_rate")
    def _finite(cls, value):
        if value is not None and not math.isfinite(value):
            raise ValueError("is a number above 0, for example 0.004")
        return value

    @validator("image_size")
    def _size(cls, value):
        match = re.match(r"(\d{1,6})(?:x(\d{1,6}))?$", value.lower()) if value else None
        if value and not (match and all(32 <= int(side) <= 8192 for side in match.groups() if side)):
            raise ValueError("is a side in px from 32 to 8192, or WIDTHxHEIGHT, for example 320 or 640x480")
        return value.lower() if value else value

    @validator("cuda_visible_devices")
    def _gpu_list(cls, value):
        if value and not all(part.strip() for part in value.split(",")):
            raise ValueError("is a comma-separated list of GPUs, for example 0,1")
        return value

    @validator("tfod_image_id")
    def _image_id(cls, value):
        if value and not re.match("sha256:[0-9a-f]{64}$", value):
            raise ValueError("is no image's id as Docker writes it (sha256:...); `make` sets it, so leave it out")
        return value


# Part of the environment contract, refused unless left at the value that changes nothing: a setting that is read
# and ignored would be worse than none.
NOT_SUPPORTED = {
    "TF_CONFIG": ("", "training over several machines is not supported by this version; unset TF_CONFIG"),
    "MIXED_PRECISION": ("0", "mixed precision is not supported by this version; leave MIXED_PRECISION out"),
    "XLA": ("0", "XLA is not supported by this version; leave XLA out"),
}


# Read on the host, by `make` (launcher/) and compose.yaml, and gone by the time a training starts; listed here so that
# they are documented in one place and their misspellings are caught.
ON_THE_HOST = {
    "RUN_IN": ("", "`docker` or `venv`: where `make` runs things; default Docker where an engine answers"),
    "TRAIN_GPUS": ("all", "GPUs the training may use, for example `0,1,2`"),
    "EVAL_GPUS": ("none", "GPUs the evaluation beside a training may use; `none` evaluates on the CPU"),
    "MEMLOCK": ("8388608", "bytes a container may lock; `-1` where NCCL has to for InfiniBand"),
    "DOCKER_RUNTIME": ("nvidia", "`runc` on a machine without GPUs"),
    "BASE_IMAGE": ("tensorflow/tensorflow:1.15.0-gpu-py3", "the image that ours is built on (docs/gpus.md)"),
    "READ_ONLY": ("false", "`true`: a read-only root file system in containers; /tmp is in memory either way"),
    "PETS_DIR": ("", "a folder with Oxford-IIIT Pet in its own layout, instead of downloading it"),
}


class SettingsRefused(Refused):
    """All errors of the environment together.

    Args:
        errors: a sentence each.
    """

    def __init__(self, errors: List[str]):
        self.errors = errors
        count = counted(len(errors), "setting is", "settings are")
        super(SettingsRefused, self).__init__(
            "\n  ".join([f"{count} refused:"] + errors), "The settings are explained in docs/settings.md."
        )


def names() -> List[str]:
    """Names of all variables, in the order of the documentation."""
    return [field.upper() for field in Settings.__fields__]


def read(environ: Optional[Mapping[str, str]] = None) -> Settings:
    """Settings from the environment.

    Args:
        environ: mapping of variable names to text; None means os.environ. An empty value counts as not set.

    Raises:
        SettingsRefused: with every error found.
    """
    environ = os.environ if environ is None else environ
    given = {name: environ[name] for name in names() if environ.get(name, "").strip()}
    errors = _unsupported(environ) + other_tools.refusals(environ) + _near_misses(environ)
    settings = None
    try:
        settings = Settings(**{name.lower(): value for name, value in given.items()})
    except ValidationError as invalid:
        errors += [_explain(error, given) for error in invalid.errors()]
    errors += _contradictions(given)
    if settings is None or errors:
        raise SettingsRefused(errors)
    return settings


def _unsupported(environ):
    return [
        f"{name}={environ[name].strip()}: {why}."
        for name, (neutral, why) in sorted(NOT_SUPPORTED.items())
        if environ.get(name, "").strip() not in ("", neutral)
    ]


def _near_misses(environ):
    """A variable that nearly has a setting's name was meant for it: `TRAINNER=clone` must not train mirrored."""
    known = names() + list(NOT_SUPPORTED) + list(ON_THE_HOST)
    errors = []
    for name in sorted(environ):
        if name in known or name in other_tools.UNMISTAKABLE or len(name) < 5:
            continue
        # 0.87 takes one letter more, less or swapped in names of six letters and up; LOGLEVEL and NUM_GPU are caught,
        # LOGNAME, RUNNER_DIR and CUDA_DEVICE_ORDER are not (tests/tfod_train/test_settings.py).
        near = nearest(name.upper(), known, cutoff=0.87)
        if near:
            errors.append(f"{name}={environ[name]}: there is no such setting; did you mean {near}?")
    return errors


def _explain(error, given):
    name = str(error["loc"][0]).upper()
    value = given.get(name, "")
    if error["type"] == "type_error.enum":
        choices = [choice.value for choice in error["ctx"]["enum_values"]]
        near = nearest(value, choices)
        hint = f"; did you mean {near}?" if near else "."
        return f"{name}={value}: choose one of {', '.join(choices)}{hint}"
    if error["type"] == "value_error.number.not_ge":
        return f"{name}={value}: must be {error['ctx']['limit_value']} or more."
    if error["type"] == "value_error.number.not_gt":
        return f"{name}={value}: must be more than {error['ctx']['limit_value']}."
    if error["type"] == "value_error.number.not_le":
        return f"{name}={value}: must be {error['ctx']['limit_value']} or less."
    if error["type"] == "type_error.integer":
        return f"{name}={value}: must be a whole number."
    if error["type"] == "type_error.float":
        return f"{name}={value}: must be a number."
    if error["type"] == "type_error.bool":
        return f"{name}={value}: must be 0 or 1."
    return f"{name}={value}: {error['msg']}."


def _contradictions(given):
    errors = []
    for one, other in (("BATCH_SIZE", "BATCH_SIZE_PER_GPU"), ("CHECKPOINT_EVERY_STEPS", "CHECKPOINT_EVERY_SECS")):
        if one in given and other in given:
            errors.append(f"{one} and {other} are both set: set one of them.")
    scaling = given.get("LEARNING_RATE_SCALING", "").strip()
    if "LEARNING_RATE" in given and scaling not in ("", LearningRateScaling.none.value):
        errors.append(
            f"LEARNING_RATE={given['LEARNING_RATE']} with LEARNING_RATE_SCALING={scaling}: the one says the rate, the "
            "other makes it of the config's; set one of them."
        )
    mode = given.get("EVAL_MODE", "").strip()
    if given.get("SPLIT", "").strip() == Split.test.value and mode not in ("", EvalMode.once.value):
        errors.append(
            f"SPLIT=test with EVAL_MODE={mode}: a test split judges the checkpoint that was chosen without it, and is "
            "no help in choosing; leave EVAL_MODE out."
        )
    errors += _meaningless(given)
    if "SEED" in given and given.get("PS_TASKS", "").strip().lstrip("0").isdigit():
        errors.append(
            f"SEED={given['SEED']} with PS_TASKS={given['PS_TASKS']}: nobody has shown that such runs repeat; "
            "leave one of them out."
        )
    return errors


def _meaningless(given):
    """Settings that only another trainer than the one asked for has a use for."""
    chosen = given.get("TRAINER", "").strip() or Settings.__fields__["trainer"].default.value
    of_others = [
        (name, other)
        for other, trainer in sorted(TRAINERS.items())
        for name in trainer.own_settings
        if other != chosen and chosen in TRAINERS and name in given and name not in TRAINERS[chosen].own_settings
    ]
    # PS_TASKS=0 asks for nothing, and what is no number is refused as that.
    return [
        f"{name}={given[name]} has no meaning with TRAINER={chosen}: set TRAINER={other}, or leave it out."
        for name, other in of_others
        if name != "PS_TASKS" or given[name].strip().lstrip("0").isdigit()
    ]


def _default_text(field):
    value = field.default
    if value is None:
        return ""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


def _all_settings():
    """(variable, default as text, description) of each setting, the host's last."""
    rows = [
        (name.upper(), _default_text(field), field.field_info.description)
        for name, field in Settings.__fields__.items()
    ]
    return rows + [(name, default, "on the host: " + text) for name, (default, text) in ON_THE_HOST.items()]


def env_example() -> str:
    """Text of .env.example: every setting, commented out, with its default."""
    lines = [
        "# Every setting with its default. Copy to .env and change what you need: `docker compose` and `make`",
        "# read that file.",
        "# Generated by `python -m tfod_train.settings env`.",
        "",
    ]
    for name, default, text in _all_settings():
        lines += [f"# {text}", f"#{name}={default}", ""]
    return "\n".join(lines)


def markdown() -> str:
    """Text of docs/settings.md."""
    lines = [
        "# Settings",
        "",
        "All settings are environment variables, read once and checked together before TensorFlow is imported.",
        "An empty value counts as not set. Generated by `python -m tfod_train.settings docs`.",
        "",
        "| variable | default | meaning |",
        "|---|---|---|",
    ]
    for name, default, text in _all_settings():
        shown = f"`{default}`" if default else "–"
        lines.append(f"| `{name}` | {shown} | {text} |")
    refused = ", ".join(f"`{name}`" for name in sorted(NOT_SUPPORTED))
    lines += ["", f"Refused by this version, so that nothing is read and ignored: {refused}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    import sys

    if sys.argv[1:] not in (["env"], ["docs"]):
        sys.exit("usage: python -m tfod_train.settings env|docs")
    sys.stdout.write(env_example() if sys.argv[1] == "env" else markdown())
