"""RUN_DIR/report.html: one page that tells a run, from what the run left behind. No network, no TensorFlow.

Names of classes, paths and settings are other people's text: everything goes through html.escape, and the page
allows neither scripts nor anything from elsewhere.
"""

import base64
import datetime
import html
import os
import statistics

from common import files
from common.errors import PREFLIGHT_FAILED, Refused
from tfod_train.process.console import duration
from tfod_train.report import charts
from tfod_train.report import history as stories
from tfod_train.run import evaluations
from tfod_train.run import run_dir as runs
from tfod_train.run.run_dir import RunDir

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report.css")
PACKAGES = ("python", "tensorflow-gpu", "tensorflow", "numpy", "protobuf", "pycocotools", "pillow", "nvidia-ml-py")


def write(run_dir):
    """Writes RUN_DIR/report.html anew; returns its path.

    Raises:
        Refused: there is no run, what it left cannot be read, or the page cannot be written.
    """
    path = RunDir(run_dir).report
    try:
        content = page(stories.read(run_dir))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Refused(
            f"What {run_dir} holds is not as a training or an evaluation wrote it ({type(error).__name__}: {error}).",
            f"Take {runs.MANIFEST} and {os.path.join(evaluations.FOLDER, evaluations.METRICS)} from a backup.",
            PREFLIGHT_FAILED,
        )
    try:
        files.write(path, content.encode("utf-8", "replace"))
    except OSError as error:
        raise Refused(
            f"{path} cannot be written: {error.strerror}.",
            "Free some space, or make the folder writable.",
            PREFLIGHT_FAILED,
        )
    return path


def try_write(run_dir, console, say=True):
    """As `write`, at the end of something else that must not fail with it: says where it is, or why it is not.

    say: False says only why it is not.
    """
    try:
        path = write(run_dir)
        if say:
            console.say(f"The report is {path}.")
    except Exception as error:  # whatever it is, how the training or evaluation ended is not changed by it
        console.log_traceback()
        console.say(
            "The report could not be written: %s"
            % (error.what if isinstance(error, Refused) else f"{type(error).__name__}: {error}.")
        )


def page(story):
    """The whole page, as text."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    title = os.path.basename(os.path.abspath(story.folder))
    sections = [
        _head(story, title),
        _tiles(story),
        _curves(story),
        _evaluations(story),
        _pictures(story),
        _starts(story),
        _data(story),
        _settings(story),
        _made_of(story),
    ]
    return PAGE % {"title": html.escape(title), "style": style, "body": "\n".join(filter(None, sections))}


# Nothing is fetched and nothing is run, whatever text gets into the page.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%(title)s</title>
<style>
%(style)s</style>
</head>
<body>
<main>
%(body)s
</main>
</body>
</html>
"""


def _head(story, title):
    said, colour = stories.outcome(story)
    told = story.manifest
    settings, devices = told.get("settings", {}), told.get("devices", {})
    count, kind = devices.get("count"), "GPU" if devices.get("kind") == "gpu" else "virtual CPU device"
    sentence = (
        f"{stories.extractor(told) or 'A model'} on {stories.field(told, 'dataset', 'name') or 'unknown data'}, "
        f"with the {settings.get('trainer', '?')} trainer on {count if count is not None else '?'} {kind}{'' if count == 1 else 's'}"
    )
    written = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    return '<header><h1>%s <span class="outcome %s">%s</span></h1><p>%s.</p><p class="quiet">%s</p></header>' % (
        html.escape(title),
        colour,
        html.escape(said),
        html.escape(sentence),
        html.escape(f"{_how_it_ended(story)} This page was written {written}."),
    )


def _how_it_ended(story):
    told, said = story.manifest, stories.outcome(story)[0]
    if said == "Running":
        return "The training was going on, and what is below may have changed since."
    if said == "Killed":
        return (
            "The last training ended without a word: it was killed, or the machine went down. The same command "
            "goes on from the newest checkpoint."
        )
    code = told.get("exit_code")
    return "Ended %s%s." % (
        _when(told.get("ended")) or "at an unknown time",
        "" if code is None else f" with exit code {code}",
    )


def _tiles(story):
    last = story.records[-1] if story.records else None
    step, total = stories.last_step(story), stories.config_value(story.manifest, "num_steps")
    tiles = [("Step", "-" if step is None else f"{step}", f"of {total}" if total else "")]
    for entry in [story.best or (story.evaluations[-1] if story.evaluations else None)]:
        if entry is not None:
            metrics = entry["metrics"]
            tiles.append(
                (
                    "COCO mAP",
                    _text(metrics.get(evaluations.MAP)),
                    f"mAP@.5IOU {_text(metrics.get(evaluations.MAP50))}, step {entry['step']}",
                )
            )
            if evaluations.MASK_MAP in metrics:
                tiles.append(
                    (
                        "Mask COCO mAP",
                        _text(metrics[evaluations.MASK_MAP]),
                        f"mAP@.5IOU {_text(metrics.get(evaluations.MASK_MAP50))}",
                    )
                )
    if last is not None and last.loss is not None:
        tiles.append(("Loss", f"{last.loss:.3f}", f"at step {last.step}"))
    rates = [record.images_per_sec for record in story.records if record.images_per_sec]
    if rates:
        tiles.append(("Images/s", f"{statistics.median(rates):.1f}", "median, all devices"))
    waits = [share for share in stories.wait_shares(story) if share is not None]
    if waits:
        tiles.append(("Input wait", f"{statistics.median(waits):.0f} %", "of a step, median"))
    secs = [stories.secs(start) for start in stories.all_starts(story.manifest)]
    if any(secs):
        known = len([one for one in secs if one is not None])
        tiles.append(
            (
                "Time",
                duration(sum(filter(None, secs))),
                "from start to end"
                if len(secs) == 1
                else f"in {known} starts"
                if known == len(secs)
                else f"in {known} of {len(secs)} starts; the others did not write down their end",
            )
        )
    return '<dl class="tiles">%s</dl>' % "".join(
        '<div><dt>%s</dt><dd>%s</dd><dd class="quiet">%s</dd></div>' % tuple(map(html.escape, tile)) for tile in tiles
    )


def _curves(story):
    resumed = [start.get("start_step") for start in stories.all_starts(story.manifest) if start.get("start_step")]
    steps = [record.step for record in story.records]
    lines = [
        charts.Chart("Loss", [charts.Line("", steps, _column(story, "loss"))], logarithmic=True),
        charts.Chart("Accuracy", _accuracy(story), top=1, marks=True),
        charts.Chart("Parts of the loss", _parts(story, steps), logarithmic=True),
        charts.Chart("Learning rate", [charts.Line("", steps, _column(story, "learning_rate"))]),
        charts.Chart("Images/s", [charts.Line("", steps, _column(story, "images_per_sec"))]),
        charts.Chart("Input wait, % of a step", [charts.Line("", steps, stories.wait_shares(story))], top=100),
    ]
    lines += _gpu_charts(story, steps)
    ends = [stories.last_step(story) or 0] + [entry["step"] for entry in story.evaluations]
    drawn = [charts.svg(chart, max(ends), resumed) for chart in lines if chart.has_points()]
    if not drawn:
        return "<section><h2>Curves</h2><p>No step was written down yet.</p></section>"
    notes = []
    if resumed:
        notes.append("Dotted lines: the training was gone on with there.")
    if story.unreadable:
        notes.append(
            "%d line%s of %s could not be read and %s left out."
            % (story.unreadable, *(("", runs.METRICS, "is") if story.unreadable == 1 else ("s", runs.METRICS, "are")))
        )
    return '<section><h2>Curves</h2><div class="curves">%s</div>%s</section>' % (
        "".join(f"<figure>{one}</figure>" for one in drawn),
        "".join(f'<p class="quiet">{html.escape(note)}</p>' for note in notes),
    )


def _column(story, name):
    return [getattr(record, name) for record in story.records]


def _parts(story, steps):
    """A Line of each part of the loss, where there is more than one."""
    names = sorted({name for record in story.records for name in record.losses})
    common = os.path.commonprefix(names)
    common = common[: common.rfind("/") + 1]
    return (
        [
            charts.Line(name[len(common) :], steps, [record.losses.get(name) for record in story.records])
            for name in names
        ]
        if len(names) > 1
        else []
    )


def _accuracy(story):
    steps = [entry["step"] for entry in story.evaluations]
    lines = [
        charts.Line(label, steps, [stories.number(entry["metrics"].get(name)) for entry in story.evaluations])
        for label, name in (
            ("COCO mAP", evaluations.MAP),
            ("mAP@.5IOU", evaluations.MAP50),
            ("mask COCO mAP", evaluations.MASK_MAP),
        )
    ]
    return [line for line in lines if any(value is not None for value in line.values)]


def _gpu_charts(story, steps):
    count = max([len(record.gpus) for record in story.records] or [0])

    def lines(index, factor):
        return [
            charts.Line(
                f"GPU {gpu}",
                steps,
                [
                    record.gpus[gpu][index] * factor
                    if gpu < len(record.gpus) and record.gpus[gpu][index] is not None
                    else None
                    for record in story.records
                ],
            )
            for gpu in range(count)
        ]

    return [charts.Chart("GPU use, %", lines(0, 1), top=100), charts.Chart("GPU memory, GiB", lines(1, 1 / 1024.0))]


def _evaluations(story):
    if not story.evaluations:
        return "<section><h2>Evaluation</h2><p>No checkpoint was evaluated yet.</p></section>"
    masks = any(evaluations.MASK_MAP in entry["metrics"] for entry in story.evaluations)
    names = [("COCO mAP", evaluations.MAP), ("mAP@.5IOU", evaluations.MAP50)]
    names += [("mask COCO mAP", evaluations.MASK_MAP), ("mask mAP@.5IOU", evaluations.MASK_MAP50)] if masks else []
    rows = [
        [f"{entry['step']}{' (best, kept)' if entry is story.best else ''}"]
        + [_text(entry["metrics"].get(name)) for _, name in names]
        + [f"{entry.get('images', '?')} of {entry.get('images_expected', '?')}", entry.get("weights", "?")]
        for entry in reversed(story.evaluations)
    ]
    of_class = story.best or story.evaluations[-1]
    return (
        f"<section><h2>Evaluation</h2>{_table(['step'] + [label for label, _ in names] + ['pictures', 'weights'], rows)}<h3>By "
        f"class, step {of_class['step']}</h3>{_by_class(story, of_class)}</section>"
    )


def _by_class(story, entry):
    columns = [(key, heading) for key, _, heading in evaluations.PER_CLASS if entry.get(key)]
    names = {name for key, _ in columns for name in entry[key]}
    by = [key for key in ("per_class_ap", "per_class_ap50") if entry.get(key)][:1]
    order = sorted(names, key=lambda name: (-(entry[by[0]].get(name) or 0) if by else 0, name))
    rows = [[name] + [_text(entry[key].get(name)) for key, _ in columns] for name in order]
    classes = stories.field(story.manifest, "dataset", "classes") or []
    without = len(set(classes) - names)
    note = f'<p class="quiet">{without} of {len(classes)} classes have no validation box.</p>' if (without) else ""
    return (_table(["class"] + [heading for _, heading in columns], rows) if rows else "") + note


def _pictures(story):
    if not story.drawing:
        return ""
    return (
        f'<section><h2>Pictures, step {story.drawn_step}</h2><p class="quiet">Solid: detections. Dashed: '
        f'what is true.</p><img alt="Detections drawn on validation pictures" src="data:image/png;base64,{base64.b64encode(story.drawing).decode("ascii")}"></section>'
    )


def _starts(story):
    rows = []
    for start in stories.all_starts(story.manifest):
        last = start is story.manifest
        told = (
            stories.outcome(story)[0].lower()
            if last
            else str(start.get("outcome", "?")).replace(stories.RUNNING, "killed")
        )
        secs, code = stories.secs(start), start.get("exit_code")
        rows.append(
            [
                _when(start.get("started")) or "?",
                "" if secs is None else duration(secs),
                str(start.get("start_step", "?")),
                _text(stories.last_step(story) if last else start.get("step")),
                told,
                "" if code is None else str(code),
            ]
        )
    return f"<section><h2>Starts</h2>{_table(['started', 'took', 'from step', 'to step', 'outcome', 'exit code'], rows)}</section>"


def _data(story):
    data = story.manifest.get("dataset")
    if not isinstance(data, dict):
        return ""
    rows, checksums = [], []
    for split, shards in sorted(data.get("shards", {}).items()):
        rows.append(
            [
                split,
                str(sum(shard.get("examples", 0) for shard in shards)),
                str(len(shards)),
                f"{sum((shard.get('bytes', 0) for shard in shards)) / 1000000.0:.1f} MB",
            ]
        )
        checksums += [f"{shard.get('sha256', '?')}  {shard.get('file', '?')}" for shard in shards]
    classes = data.get("classes", [])
    return "<section><h2>Data</h2>%s%s%s%s</section>" % (
        _pairs([("dataset", data.get("name")), ("folder", data.get("folder"))]),
        _table(["split", "pictures", "shards", "size"], rows),
        _details(f"{len(classes)} classes", "\n".join(map(str, classes))),
        _details("Checksums (sha256)", "\n".join(checksums)),
    )


def _settings(story):
    told = story.manifest
    chosen = [
        (name.upper(), int(value) if isinstance(value, bool) else value)
        for name, value in sorted(told.get("settings", {}).items())
        if value is not None
    ]
    changes = told.get("config_changes") or []
    return "<section><h2>Settings</h2>%s%s%s%s%s</section>" % (
        _pairs([("config", told.get("config_file")), ("command", told.get("command"))]),
        "<h3>Changed in the config</h3><ul>%s</ul>"
        % "".join(f"<li>{html.escape(str(change))}</li>" for change in changes)
        if changes
        else "",
        "<h3>Settings, defaults included</h3>",
        _pairs(chosen),
        _details("The effective config", "\n".join(map(str, told.get("config") or []))),
    )


def _made_of(story):
    told = story.manifest
    devices, host, api, code = [told.get(name) or {} for name in ("devices", "host", "api", "code")]
    versions = told.get("versions") or {}
    rows = [
        ("devices", ", ".join(map(str, devices.get("used") or []))),
        ("GPUs", ", ".join(map(str, devices.get("gpus") or [])) or "none"),
        ("driver", devices.get("driver")),
        ("machine", host.get("machine")),
        ("CPUs", host.get("cpus")),
        ("in a container", {True: "yes", False: "no"}.get(host.get("container"))),
        (
            "code",
            " ".join(
                filter(
                    None,
                    [code.get("commit"), f"with {len(code['changed'])} changed files" if code.get("changed") else ""],
                )
            )
            if isinstance(code, dict)
            else None,
        ),
        ("API", api.get("commit")),
        ("patches", len(api["patches"]) if "patches" in api else None),
    ]
    rows += [(name, versions[name]) for name in PACKAGES if name in versions]
    return "<section><h2>Devices and versions</h2>%s%s</section>" % (
        _pairs(rows),
        _details("All packages", "\n".join("%s %s" % one for one in sorted(versions.items()))),
    )


def _when(text):
    when = stories.time_of(text)
    return when and when.strftime("%Y-%m-%d %H:%M:%S %z")


def _text(value):
    return "-" if value is None else str(value) if isinstance(value, (int, str)) else f"{value:.3f}"


def _table(headings, rows):
    """Every column but the first is numbers or short words, and stands to the right."""
    return '<div class="wide"><table><thead><tr>%s</tr></thead><tbody>%s</tbody></table></div>' % (
        "".join(f"<th>{html.escape(heading)}</th>" for heading in headings),
        "".join("<tr>%s</tr>" % "".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows),
    )


def _pairs(rows):
    return '<dl class="pairs">%s</dl>' % "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>"
        for name, value in rows
        if value not in (None, "")
    )


def _details(summary, text):
    return f"<details><summary>{html.escape(summary)}</summary><pre>{html.escape(text)}</pre></details>" if text else ""
