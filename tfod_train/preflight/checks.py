"""Can this training work here? All that can be known without TensorFlow, in seconds.

A training begins with this look, is refused by its errors and tells its warnings; `preflight` shows all of it.
"""

import importlib.util
import os
import resource
import shutil
from typing import Any, Callable, List, NamedTuple, Optional

from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from common.text import counted
from tfod_train.checkpoints import integrity, model_zoo
from tfod_train.config import dataset as datasets
from tfod_train.config import pipeline, pretrained
from tfod_train.devices import devices as device_choice
from tfod_train.devices import gpus, memory_limit
from tfod_train.devices.devices import Devices
from tfod_train.fitted_config import source as sources
from tfod_train.preflight import boxes, checkpoint_size
from tfod_train.run import plugins
from tfod_train.run.context import Run
from tfod_train.run.run_dir import ROOM_TO_START_BYTES, RunDir
from tfod_train.settings import Settings

OK, WARNING, ERROR = "ok", "warning", "error"
ENOUGH_SHARED_MEMORY = 256 * 2**20  # NCCL's buffers between GPUs; Docker's default is 64 MB
ENOUGH_LOCKED_MEMORY = 8 * 2**20  # compose.yaml's default


class Line(NamedTuple):
    """One thing that was looked at. `level` is ok, warning or error; `do` says what to do, "" for ok."""

    check: str
    level: str
    text: str
    do: str = ""
    code: int = PREFLIGHT_FAILED


class Plan(NamedTuple):
    """What the training will be (Run, less its settings), as far as it could be found out; what could not is None."""

    devices: Optional[Devices] = None
    dataset: Optional[datasets.Dataset] = None
    config_path: Optional[str] = None
    config: Any = None
    changes: Optional[List[str]] = None
    run_dir: Optional[RunDir] = None


class Report(NamedTuple):
    """All lines, and the plan as far as they let it be made of the settings.

    source: where the plan's config comes from, None where that could not be found out.
    """

    settings: Settings
    lines: List[Line]
    plan: Plan
    source: Optional[sources.Source] = None

    def run(self) -> Run:
        """The Run that was planned.

        Raises:
            Refused: there is an error.
        """
        self.refuse()
        # Without an error all of the plan was found out.
        return Run(self.settings, *self.plan)  # type: ignore[arg-type]

    @property
    def errors(self) -> List[Line]:
        return [line for line in self.lines if line.level == ERROR]

    @property
    def warnings(self) -> List[Line]:
        return [line for line in self.lines if line.level == WARNING]

    @property
    def code(self) -> int:
        """Exit code: 0, 2 where settings or config alone are wrong, else 3."""
        codes = {line.code for line in self.errors}
        return PREFLIGHT_FAILED if PREFLIGHT_FAILED in codes else SETTINGS_REFUSED if codes else 0

    def refuse(self) -> None:
        """Lets a training begin where nothing stands in its way.

        Raises:
            Refused: there is an error; it names all of them.
        """
        if len(self.errors) == 1:
            raise Refused(self.errors[0].text, self.errors[0].do, self.errors[0].code)
        if self.errors:
            raise Refused(
                "\n".join(
                    [f"{len(self.errors)} things stand in the way:"]
                    + [f"  {line.text} {line.do}" for line in self.errors]
                ),
                "entrypoint.py preflight shows everything that was looked at.",
                self.code,
            )


def look(settings: Settings, host: Optional[gpus.Host] = None, make_data: Optional[Callable[[], Any]] = None) -> Report:
    """Looks at everything.

    Args:
        settings: what the user asked for.
        host: None asks this machine.
        make_data: function() that makes a dataset that can be made without asking; None leaves that to the training.
    """
    host = host or gpus.look()
    lines, plan = [_tensorflow()], Plan()
    plan = plan._replace(devices=_collect(lines, "devices", lambda: _devices(settings, host)))
    if plan.devices and plan.devices.kind == "gpu":
        lines += _gpu_lines(plan.devices, settings, host)
    lines += _machine_lines(plan.devices, host)
    if plan.devices and make_data:
        make_data()
    if settings.plugins:
        _collect(lines, "plug-ins", lambda: _plugins(settings))
    plan = plan._replace(dataset=_collect(lines, "records", lambda: _records(settings)))
    found = _source(plan, lines, settings)
    if found:
        plan = _with_config(plan, found, lines, settings)
    return Report(settings, lines, plan, found)


def _collect(lines, check, function):
    """Appends the Line of function() -> (Line, value), or that of its refusal; returns the value or None."""
    try:
        line, value = function()
    except Refused as refused:
        line, value = Line(check, ERROR, refused.what, refused.do, refused.code), None
    lines.append(line)
    return value


def _tensorflow():
    missing = [name for name in ("tensorflow", "object_detection") if importlib.util.find_spec(name) is None]
    if missing:
        return Line(
            "software",
            ERROR,
            f"{' and '.join(missing)} cannot be imported.",
            "Use the image, or make setup and .venv/bin/python.",
        )
    cuda = gpus.cuda_of_tensorflow()
    built_for = f" for CUDA {gpus.dotted(cuda)}" if cuda else ""
    return Line("software", OK, f"TensorFlow{built_for} and the patched API are installed.")


def _plugins(settings):
    plugins.check(settings.plugins)
    return Line("plug-ins", OK, f"{', '.join(plugins.names(settings.plugins))}: imported after TensorFlow."), None


def _devices(settings, host):
    listed = [(gpu.uuid, gpu.name) for gpu in host.gpus]
    if settings.device.value == "gpu" and not listed:
        what, do = gpus.why_no_gpu(host)
        do = do if "DEVICE=cpu" in do else do + " DEVICE=cpu trains on virtual CPU devices."
        raise Refused(f"DEVICE=gpu, but no GPU is visible: {what}.", do, PREFLIGHT_FAILED)
    devices = device_choice.choose(settings, listed)
    kind = "GPU" if devices.kind == "gpu" else "virtual CPU device"
    there = f" of {len(listed)} in this machine" if devices.kind == "gpu" else ", no GPU"
    return Line("devices", OK, f"{counted(devices.count, kind)}{there}."), devices


def _gpu_lines(devices, settings, host):
    cuda = gpus.cuda_of_tensorflow()
    lines = []
    chosen = []
    for entry in device_choice.entries(devices):
        chosen += (
            [host.gpus[int(entry)]] if entry.isdigit() else [gpu for gpu in host.gpus if gpu.uuid.startswith(entry)][:1]
        )
    for gpu in sorted(set(chosen), key=chosen.index):
        level, text, do = gpus.generation(gpu, cuda)
        lines.append(Line("GPU generation", level, text + ".", do))
    lines.append(_driver(host.driver, cuda))
    missing = gpus.missing_libraries(cuda)
    lines.append(
        Line(
            "CUDA libraries",
            ERROR,
            f"CUDA's libraries are not found: {', '.join(missing)}.",
            f"Use the image, which has them, or install CUDA {gpus.dotted(cuda)} and cuDNN 7 and set LD_LIBRARY_PATH.",
        )
        if missing
        else Line(
            "CUDA libraries",
            OK,
            "found"
            if cuda in gpus.LIBRARIES
            else "not looked at for this CUDA; TensorFlow is asked when training starts",
        )
    )
    return lines


def _driver(driver, cuda):
    old = gpus.driver_fits(driver, cuda)
    if old is None:
        return Line("driver", OK, f"NVIDIA driver {driver}.")
    what, do = old[0][0].upper() + old[0][1:] + ".", old[1]
    if gpus.driver_may_be_bridged(driver, cuda):
        return Line(
            "driver",
            WARNING,
            what,
            do + " A data-centre GPU may do with NVIDIA's compatibility packages, "
            "which nobody has shown with this project.",
        )
    return Line("driver", ERROR, what, do)


def _machine_lines(devices, host):
    several = devices is not None and devices.kind == "gpu" and devices.count > 1
    lines = []
    try:
        lines.append(shared_memory(shutil.disk_usage("/dev/shm").total, several))
    except OSError:
        lines.append(
            Line(
                "shared memory",
                WARNING if several else OK,
                "There is no /dev/shm.",
                "Mount a tmpfs there." if several else "",
            )
        )
    if host.in_container:
        lines.append(locked_memory(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0], several))
    return lines


def shared_memory(size: int, several_gpus: bool) -> Line:
    """The Line for `size` bytes of /dev/shm."""
    text = f"{size // 2**20} MB of shared memory"
    if not several_gpus or size >= ENOUGH_SHARED_MEMORY:
        return Line("shared memory", OK, text + ("." if several_gpus else "; more than one GPU would use it."))
    return Line(
        "shared memory",
        WARNING,
        f"{text} is little for NCCL, which ends in `no space left on device`.",
        "Start the container with --shm-size 2g; compose.yaml does.",
    )


def locked_memory(limit: int, several_gpus: bool) -> Line:
    """The Line for the limit of bytes this process may lock; resource.RLIM_INFINITY for none."""
    unlimited = limit == resource.RLIM_INFINITY
    text = "Any memory may be locked" if unlimited else f"{limit // 1024} kB may be locked"
    if unlimited or not several_gpus or limit >= ENOUGH_LOCKED_MEMORY:
        return Line("locked memory", OK, text + ".")
    return Line(
        "locked memory",
        WARNING,
        text + ", which NCCL may find too little.",
        "Start the container with --ulimit memlock=8388608 (MEMLOCK with compose; -1 for InfiniBand).",
    )


def _records(settings):
    name, folder, _ = datasets.locate(settings)
    if (
        name == "mini-pets"
        and settings.dataset in (None, name)
        and not os.path.exists(os.path.join(folder, datasets.DATASET_FILE))
    ):
        return Line("records", OK, "mini-pets is not there yet; training draws it first."), None
    own = datasets.own_records(settings)
    if own and not os.path.exists(os.path.join(folder, datasets.DATASET_FILE)):
        return Line(
            "records", OK, f"Those that {own.config} names were not read yet; a training reads them first."
        ), None
    found = datasets.load(settings)
    return Line(
        "records",
        OK,
        f"{found.folder}: {found.examples('train')} images to train on, {found.examples('val')} to "
        f"evaluate, {len(found.classes)} classes in the label map.",
    ), found


def _source(plan, lines, settings):
    """The Source of the config; None where there is none, which is a line."""
    try:
        if plan.dataset:
            return sources.of(settings, plan.dataset)
        name = datasets.locate(settings)[0]
        if settings.pipeline_config or pipeline.default(settings, name):
            return sources.Source(pipeline.find(settings, name))
        lines.append(Line("config", OK, "None is named; one that fits is written once the records are there."))
    except Refused as refused:
        if not (plan.dataset is None and any(line.text == refused.what for line in lines)):
            lines.append(Line("config", ERROR, refused.what, refused.do, refused.code))
    return None


def _with_config(plan, found, lines, settings):
    path = found.path
    try:
        written = pipeline.of_text(found.text, path) if found.text else pipeline.parse(path)
    except Refused as refused:
        lines.append(Line("config", ERROR, refused.what, refused.do, refused.code))
        return plan
    if found.how:
        lines.append(Line("config", OK, found.how))
    if not (plan.devices and plan.dataset):
        lines.append(Line("config", OK, f"{path} parses; the rest was not looked at without devices and records."))
        return plan
    effective = _collect(lines, "config", lambda: _effective(written, path, settings, plan))
    if effective is None:
        return plan
    config, changes = effective
    lines += _boxes(config, plan.dataset)
    run_dir = RunDir.of(settings)
    _collect(lines, "fine-tuning", lambda: (_fine_tuning(config, run_dir), None))
    _collect(lines, "RUN_DIR", lambda: (_run_dir(run_dir, path, config, settings), None))
    lines.append(disk(run_dir, config, settings))
    return plan._replace(config_path=path, config=config, changes=changes, run_dir=run_dir)


def _effective(written, path, settings, plan):
    effective = pipeline.effective(written, settings, plan.dataset, plan.devices, memory_limit.limit())
    classes, count = pipeline.model_of(written).num_classes, len(plan.dataset.classes)
    kept = "is" if classes == count else f"{classes} is set to"
    batch = pipeline.batch_line(effective.config, plan.devices)
    name = os.path.basename(path)
    return Line("config", OK, f"{name}: {batch}; num_classes {kept} the label map's {count}."), effective


def _boxes(config, dataset):
    found = [Line("boxes", WARNING, what, do) for what, do in boxes.warnings(config, dataset)]
    return found or [Line("boxes", OK, "No class of many boxes without an anchor, no image of too many boxes.")]


def _fine_tuning(config, run_dir):
    checkpoint = config.train_config.fine_tune_checkpoint
    if not checkpoint:
        return Line("fine-tuning", OK, "From scratch: no fine_tune_checkpoint.")
    awaited = model_zoo.awaited(checkpoint)
    if awaited:
        size = model_zoo.ZOO[awaited].bytes // 10**6
        return Line(
            "fine-tuning", OK, f"{awaited} of the model zoo is not there yet; training downloads it first ({size} MB)."
        )
    pretrained.refuse_own(checkpoint, run_dir.path)
    problem = integrity.problem(checkpoint, values=True)
    if problem:
        return Line(
            "fine-tuning",
            ERROR,
            f"fine_tune_checkpoint {checkpoint} cannot be read: {problem}.",
            "Download it again, or set FINE_TUNE_CHECKPOINT to another, or to none.",
            SETTINGS_REFUSED,
        )
    count = len(integrity.read_index(checkpoint).entries)
    return Line(
        "fine-tuning", OK, f"{checkpoint} can be read: {count} variables. How many fit is said when the graph is built."
    )


def _run_dir(run_dir, path, config, settings):
    step = run_dir.check(config, settings)
    run_dir.check_config_file(path)
    if run_dir.is_training():
        raise run_dir.in_use()
    parent = _existing(run_dir.path)
    if os.path.isdir(parent) and not os.access(parent, os.W_OK | os.X_OK):
        raise Refused(
            f"RUN_DIR={run_dir} cannot be written.",
            "Choose a folder that belongs to you, or change its owner.",
            PREFLIGHT_FAILED,
        )
    torn = run_dir.torn_checkpoints()
    if torn:
        return Line("RUN_DIR", WARNING, " ".join(torn), f"Training resumes from step {step}.")
    found = f"resumes from step {step}" if step else "a new run"
    return Line("RUN_DIR", OK, f"{run_dir}: {found}.")


def disk(run_dir: RunDir, config: Any, settings: Settings) -> Line:
    """The Line for the free space of RUN_DIR's disk against the checkpoints that will be kept."""
    free = RunDir(_existing(run_dir.path)).free_bytes()
    size, how, exact = checkpoint_size.estimate(config, run_dir.path)
    if size is None:
        return Line("disk", OK, f"{_megabytes(free)} free; {how}.")
    missing = max(settings.keep_checkpoints + 1 - len(run_dir.checkpoints()), 1)
    needed = missing * size + ROOM_TO_START_BYTES
    more = counted(missing, "more checkpoint")
    text = f"{_megabytes(free)} free; {more} of {_megabytes(size)} ({how}) and the log need about {_megabytes(needed)}."
    if free >= needed:
        return Line("disk", OK, text)
    do = "Free some space, set RUN_DIR to another disk, or lower KEEP_CHECKPOINTS."
    return Line("disk", ERROR if exact else WARNING, text, do)


def _existing(path):
    """The path, or the nearest folder above it that is there."""
    path = os.path.abspath(path)
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _megabytes(size):
    return f"{size // 2**20} MB"
