"""RUN_DIR/report.html: one page that tells a run, from what the run left behind. No network, no TensorFlow.

Here what the page shows becomes plain text, a View; templates/report.html makes the page of it. Names of classes, paths
and settings are other people's text: the template escapes all of it, and the page allows neither scripts nor anything
from elsewhere.
"""

import base64
import datetime
import os
import statistics
from typing import Any, Iterable, List, NamedTuple, Optional, Tuple, Union

from common import files
from common.errors import PREFLIGHT_FAILED, Refused
from common.text import counted
from tfod_train.process.console import Console, duration
from tfod_train.report import charts, run_history
from tfod_train.run import evaluations
from tfod_train.run.run_dir import MANIFEST, METRICS, RunDir

# The folder of the templates' folder and of the stylesheet.
FOLDER = os.path.dirname(os.path.abspath(__file__))
TEMPLATE = "templates/report.html"
PACKAGES = ("python", "tensorflow-gpu", "tensorflow", "numpy", "protobuf", "pycocotools", "pillow", "nvidia-ml-py")


class Head(NamedTuple):
    """colour: run_history's GOOD, BAD or OPEN."""

    title: str
    outcome: str
    colour: str
    sentence: str
    note: str


class Tile(NamedTuple):
    """One of the numbers on top."""

    name: str
    value: str
    note: str


class Table(NamedTuple):
    """Each of the rows has a cell for each of the headings."""

    headings: List[str]
    rows: List[List[str]]


class Fold(NamedTuple):
    """Text that is there on a click; "" leaves out the fold too."""

    summary: str
    text: str


class Curves(NamedTuple):
    """svgs: of charts.svg."""

    svgs: List[str]
    notes: List[str]


class Evaluations(NamedTuple):
    """by_class: of the evaluation of `step`, the kept or the last one; without rows where nothing is known."""

    measured: Table
    step: str
    by_class: Table
    note: str


class Tested(NamedTuple):
    """The held-out test split, evaluated with the checkpoint of `step`."""

    step: str
    measured: Table
    by_class: Table


class Images(NamedTuple):
    """png: base64."""

    step: str
    png: str


class Data(NamedTuple):
    """What the run was trained on."""

    pairs: List[Tuple[str, str]]
    splits: Table
    classes: Fold
    checksums: Fold


class Settings(NamedTuple):
    """changes: what the settings changed in the config. chosen: the settings. config: the effective one."""

    pairs: List[Tuple[str, str]]
    changes: List[str]
    chosen: List[Tuple[str, str]]
    config: Fold


class MadeOf(NamedTuple):
    """Devices, code and packages."""

    pairs: List[Tuple[str, str]]
    packages: Fold


class View(NamedTuple):
    """All that the page shows; None for a section that is left out or says that there is nothing."""

    head: Head
    tiles: List[Tile]
    curves: Curves
    evaluations: Optional[Evaluations]
    tested: Optional[Tested]
    images: Optional[Images]
    starts: Table
    data: Optional[Data]
    settings: Settings
    made_of: MadeOf


def write(run_dir: Union[str, RunDir]) -> str:
    """Writes RUN_DIR/report.html anew; returns its path.

    Raises:
        Refused: there is no run, what it left cannot be read, or the page cannot be written.
    """
    path = RunDir(run_dir).report
    try:
        content = page(run_history.read(run_dir))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Refused(
            f"What {run_dir} holds is not as a training or an evaluation wrote it ({type(error).__name__}: {error}).",
            f"Take {MANIFEST} and {os.path.join(evaluations.FOLDER, evaluations.METRICS)} from a backup.",
            PREFLIGHT_FAILED,
        ) from error
    try:
        files.write(path, content.encode("utf-8", "replace"))
    except OSError as error:
        raise Refused(
            f"{path} cannot be written: {error.strerror}.",
            "Free some space, or make the folder writable.",
            PREFLIGHT_FAILED,
        ) from error
    return path


def try_write(run_dir: Union[str, RunDir], console: Console, say: bool = True) -> None:
    """As `write`, at the end of something else that must not fail with it: says where it is, or why it is not.

    Args:
        run_dir: the run.
        console: where people read that.
        say: False says only why there is no page.
    """
    try:
        path = write(run_dir)
        if say:
            console.say(f"The report is {path}.")
    except Exception as error:  # whatever it is, how the training or evaluation ended is not changed by it
        console.log_traceback()
        reason = error.what if isinstance(error, Refused) else f"{type(error).__name__}: {error}."
        console.say(f"The report could not be written: {reason}")


def page(history: run_history.RunHistory) -> str:
    """The whole page, as text."""
    # Late: most commands write no report.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(TEMPLATE).render(view(history)._asdict())


def view(history: run_history.RunHistory) -> View:
    """What the page of a run shows."""
    return View(
        head=_head(history),
        tiles=_tiles(history),
        curves=_curves(history),
        evaluations=_evaluations(history),
        tested=_tested(history),
        images=_images(history),
        starts=_starts(history),
        data=_data(history),
        settings=_settings(history),
        made_of=_made_of(history),
    )


def _head(history):
    manifest = history.manifest
    outcome, colour = run_history.outcome(history)
    trainer = manifest.get("settings", {}).get("trainer", "?")
    model = run_history.extractor(history) or "A model"
    dataset = run_history.field(manifest, "dataset", "name") or "unknown data"
    written = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    return Head(
        title=os.path.basename(os.path.abspath(history.folder)),
        outcome=outcome,
        colour=colour,
        sentence=f"{model} on {dataset}, with the {trainer} trainer on {_devices(manifest.get('devices', {}))}.",
        note=f"{_how_it_ended(history)} This page was written {written}.",
    )


def _devices(devices):
    """Such as "2 GPUs"."""
    count, kind = devices.get("count"), "GPU" if devices.get("kind") == "gpu" else "virtual CPU device"
    return f"? {kind}s" if count is None else counted(count, kind)


def _how_it_ended(history):
    outcome = run_history.outcome(history)[0]
    if outcome == "Running":
        return "The training was going on, and what is below may have changed since."
    if outcome == "Killed":
        return (
            "The last training ended without a word: it was killed, or the machine went down. The same command "
            "resumes from the newest checkpoint."
        )
    code = history.manifest.get("exit_code")
    ended = _when(history.manifest.get("ended")) or "at an unknown time"
    return f"Ended {ended}{'' if code is None else f' with exit code {code}'}."


def _tiles(history):
    step, total = run_history.last_step(history), run_history.config_value(history, "num_steps")
    tiles = [Tile("Step", _text(step), f"of {total}" if total else "")]
    tiles += _accuracy_tiles(history.best or (history.evaluations[-1] if history.evaluations else None))
    last = history.records[-1] if history.records else None
    if last is not None and last.loss is not None:
        tiles.append(Tile("Loss", f"{last.loss:.3f}", f"at step {last.step}"))
    rates = [record.images_per_sec for record in history.records if record.images_per_sec]
    if rates:
        tiles.append(Tile("Images/s", f"{statistics.median(rates):.1f}", "median, all devices"))
    waits = [share for share in run_history.wait_shares(history) if share is not None]
    if waits:
        tiles.append(Tile("Input wait", f"{statistics.median(waits):.0f} %", "of a step, median"))
    return tiles + _time_tiles(history)


def _accuracy_tiles(entry):
    if entry is None:
        return []
    metrics = entry["metrics"]
    note = f"mAP@.5IOU {_text(metrics.get(evaluations.MAP50))}, step {entry['step']}"
    tiles = [Tile("COCO mAP", _text(metrics.get(evaluations.MAP)), note)]
    if evaluations.MASK_MAP in metrics:
        note = f"mAP@.5IOU {_text(metrics.get(evaluations.MASK_MAP50))}"
        tiles.append(Tile("Mask COCO mAP", _text(metrics[evaluations.MASK_MAP]), note))
    return tiles


def _time_tiles(history):
    secs = [run_history.secs(start) for start in run_history.all_starts(history.manifest)]
    if not any(secs):
        return []
    known = len([one for one in secs if one is not None])
    if len(secs) == 1:
        note = "from start to end"
    elif known == len(secs):
        note = f"in {known} starts"
    else:
        note = f"in {known} of {len(secs)} starts; the others did not write down their end"
    return [Tile("Time", duration(sum(filter(None, secs))), note)]


def _curves(history):
    resumed = [start.get("start_step") for start in run_history.all_starts(history.manifest) if start.get("start_step")]
    ends = [run_history.last_step(history) or 0] + [entry["step"] for entry in history.evaluations]
    drawn = [charts.svg(chart, max(ends), resumed) for chart in _charts(history) if chart.has_points()]
    notes = ["Dotted lines: the training was resumed there."] if resumed else []
    if history.unreadable:
        were = "is" if history.unreadable == 1 else "are"
        notes.append(f"{counted(history.unreadable, 'line')} of {METRICS} could not be read and {were} left out.")
    return Curves(drawn, notes)


def _charts(history):
    steps = [record.step for record in history.records]

    def alone(values):
        return [charts.Line("", steps, values)]

    def column(name):
        return alone([getattr(record, name) for record in history.records])

    return [
        charts.Chart("Loss", column("loss"), logarithmic=True),
        charts.Chart("Accuracy", _accuracy(history), top=1, marks=True),
        charts.Chart("Parts of the loss", _parts(history, steps), logarithmic=True),
        charts.Chart("Learning rate", column("learning_rate")),
        charts.Chart("Images/s", column("images_per_sec")),
        charts.Chart("Input wait, % of a step", alone(run_history.wait_shares(history)), top=100),
        charts.Chart("GPU use, %", _gpu_lines(history, steps, 0, 1), top=100),
        charts.Chart("GPU memory, GiB", _gpu_lines(history, steps, 1, 1 / 1024.0)),
    ]


def _parts(history, steps):
    """A Line of each part of the loss, where there is more than one."""
    names = sorted({name for record in history.records for name in record.losses})
    if len(names) < 2:
        return []
    common = os.path.commonprefix(names)
    common = common[: common.rfind("/") + 1]
    return [
        charts.Line(name[len(common) :], steps, [record.losses.get(name) for record in history.records])
        for name in names
    ]


def _accuracy(history):
    steps = [entry["step"] for entry in history.evaluations]
    lines = [
        charts.Line(label, steps, [run_history.number(entry["metrics"].get(name)) for entry in history.evaluations])
        for label, name in (
            ("COCO mAP", evaluations.MAP),
            ("mAP@.5IOU", evaluations.MAP50),
            ("mask COCO mAP", evaluations.MASK_MAP),
        )
    ]
    return [line for line in lines if any(value is not None for value in line.values)]


def _gpu_lines(history, steps, index, factor):
    """A Line of each GPU, of its use (index 0) or of its memory (1)."""

    def value(record, gpu):
        found = record.gpus[gpu][index] if gpu < len(record.gpus) else None
        return None if found is None else found * factor

    count = max([len(record.gpus) for record in history.records] or [0])
    return [
        charts.Line(f"GPU {gpu}", steps, [value(record, gpu) for record in history.records]) for gpu in range(count)
    ]


def _tested(history):
    if history.tested is None:
        return None
    entry = history.tested
    return Tested(str(entry["step"]), _measured([entry]), _by_class(entry))


def _measured(entries, best=None):
    """A row for each of the entries of metrics.json."""
    masks = any(evaluations.MASK_MAP in entry["metrics"] for entry in entries)
    names = [("COCO mAP", evaluations.MAP), ("mAP@.5IOU", evaluations.MAP50)]
    names += [("mask COCO mAP", evaluations.MASK_MAP), ("mask mAP@.5IOU", evaluations.MASK_MAP50)] if masks else []
    rows = [
        [f"{entry['step']}{' (best, kept)' if entry is best else ''}"]
        + [_text(entry["metrics"].get(name)) for _, name in names]
        + [f"{entry.get('images', '?')} of {entry.get('images_expected', '?')}", str(entry.get("weights", "?"))]
        for entry in entries
    ]
    return Table(["step"] + [label for label, _ in names] + ["images", "weights"], rows)


def _evaluations(history):
    if not history.evaluations:
        return None
    shown = history.best or history.evaluations[-1]
    return Evaluations(
        measured=_measured(history.evaluations[::-1], history.best),
        step=str(shown["step"]),
        by_class=_by_class(shown),
        note=_classes_without_boxes(history, shown),
    )


def _by_class(entry):
    columns = [(key, heading) for key, _, heading in evaluations.PER_CLASS if entry.get(key)]
    by = [key for key in ("per_class_ap", "per_class_ap50") if entry.get(key)][:1]
    order = sorted(_measured_classes(entry), key=lambda name: (-(entry[by[0]].get(name) or 0) if by else 0, name))
    rows = [[name] + [_text(entry[key].get(name)) for key, _ in columns] for name in order]
    return Table(["class"] + [heading for _, heading in columns], rows)


def _measured_classes(entry):
    return {name for key, _, _ in evaluations.PER_CLASS for name in entry.get(key) or ()}


def _classes_without_boxes(history, entry):
    classes = run_history.field(history.manifest, "dataset", "classes") or []
    without = len(set(classes) - _measured_classes(entry))
    return f"{without} of {len(classes)} classes have no validation box." if without else ""


def _images(history):
    if not history.drawing:
        return None
    return Images(str(history.drawn_step), base64.b64encode(history.drawing).decode("ascii"))


def _starts(history):
    earlier = run_history.all_starts(history.manifest)[:-1]
    rows = [
        _start(start, start.get("step"), str(start.get("outcome", "?")).replace(run_history.RUNNING, "killed"))
        for start in earlier
    ]
    rows.append(_start(history.manifest, run_history.last_step(history), run_history.outcome(history)[0].lower()))
    return Table(["started", "took", "from step", "to step", "outcome", "exit code"], rows)


def _start(start, step, outcome):
    secs, code = run_history.secs(start), start.get("exit_code")
    return [
        _when(start.get("started")) or "?",
        "" if secs is None else duration(secs),
        str(start.get("start_step", "?")),
        _text(step),
        outcome,
        "" if code is None else str(code),
    ]


def _data(history):
    data = history.manifest.get("dataset")
    if not isinstance(data, dict):
        return None
    rows, checksums = [], []
    for split, shards in sorted(data.get("shards", {}).items()):
        examples = sum(shard.get("examples", 0) for shard in shards)
        megabytes = sum(shard.get("bytes", 0) for shard in shards) / 1000000.0
        rows.append([split, str(examples), str(len(shards)), f"{megabytes:.1f} MB"])
        checksums += [f"{shard.get('sha256', '?')}  {shard.get('file', '?')}" for shard in shards]
    classes = data.get("classes", [])
    return Data(
        pairs=_pairs([("dataset", data.get("name")), ("folder", data.get("folder"))]),
        splits=Table(["split", "images", "shards", "size"], rows),
        classes=_fold(f"{len(classes)} classes", classes),
        checksums=_fold("Checksums (sha256)", checksums),
    )


def _settings(history):
    manifest = history.manifest
    chosen = [
        (name.upper(), int(value) if isinstance(value, bool) else value)
        for name, value in sorted(manifest.get("settings", {}).items())
    ]
    return Settings(
        pairs=_pairs([("config", manifest.get("config_file")), ("command", manifest.get("command"))]),
        changes=[str(change) for change in manifest.get("config_changes") or []],
        chosen=_pairs(chosen),
        config=_fold("The effective config", manifest.get("config") or []),
    )


def _made_of(history):
    manifest = history.manifest
    devices, host, api, code = [manifest.get(name) or {} for name in ("devices", "host", "api", "code")]
    versions = manifest.get("versions") or {}
    rows = [
        ("devices", ", ".join(map(str, devices.get("used") or []))),
        ("GPUs", ", ".join(map(str, devices.get("gpus") or [])) or "none"),
        ("driver", devices.get("driver")),
        ("machine", host.get("machine")),
        ("CPUs", host.get("cpus")),
        ("in a container", {True: "yes", False: "no"}.get(host.get("container"))),
        ("code", _code(code)),
        ("API", api.get("commit")),
        ("patches", len(api["patches"]) if "patches" in api else None),
    ]
    rows += [(name, versions[name]) for name in PACKAGES if name in versions]
    packages = [f"{name} {version}" for name, version in sorted(versions.items())]
    return MadeOf(_pairs(rows), _fold("All packages", packages))


def _code(code):
    if not isinstance(code, dict):
        return None
    changed = f"with {len(code['changed'])} changed files" if code.get("changed") else ""
    return " ".join(filter(None, [code.get("commit"), changed]))


def _when(text):
    when = run_history.time_of(text)
    return when and when.strftime("%Y-%m-%d %H:%M:%S %z")


def _text(value):
    return "-" if value is None else str(value) if isinstance(value, (int, str)) else f"{value:.3f}"


def _pairs(rows: Iterable[Tuple[str, Any]]) -> List[Tuple[str, str]]:
    return [(name, str(value)) for name, value in rows if value not in (None, "")]


def _fold(summary, lines):
    return Fold(summary, "\n".join(map(str, lines)))
