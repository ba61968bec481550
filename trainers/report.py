"""RUN_DIR/report.html: one page that tells a run, from what the run left behind. No network, no TensorFlow.

    python -m trainers.report RUN_DIR

Names of classes, paths and settings are other people's text: everything goes through html.escape, and the page
allows neither scripts nor anything from elsewhere.
"""
import argparse
import base64
import datetime
import html
import json
import math
import os
import re
import statistics
import sys
from typing import Any, Dict, List, NamedTuple, Optional

from data_prep import files
from trainers import charts, evaluation, manifest as manifests, run_dir as runs
from trainers.console import duration
from trainers.errors import PREFLIGHT_FAILED, Refused
from trainers.files import read_json

NAME = "report.html"
METRICS = "metrics.jsonl"
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report.css")
PACKAGES = ("python", "tensorflow-gpu", "tensorflow", "numpy", "protobuf", "pycocotools", "pillow", "nvidia-ml-py")
NUMBERS = ("loss", "learning_rate", "images_per_sec", "input_wait_secs", "time")
RUNNING = "running"
GOOD, BAD, OPEN = "good", "bad", "open"
# By the outcome in run.json: what to say of it, and its colour.
OUTCOMES = {"finished": ("Finished", GOOD), "stopped early": ("Stopped early", GOOD), "stopped": ("Stopped", OPEN),
            "diverged": ("Diverged", BAD), "stalled": ("Stalled", BAD), "failed": ("Failed", BAD),
            "refused": ("Ended by an error", BAD)}


class Record(NamedTuple):
    """A line of metrics.jsonl; None where it has no number.

    gpus: list of (percent, MiB), each may be None. losses: the parts of the loss by name.
    """
    step: int
    loss: Optional[float]
    learning_rate: Optional[float]
    images_per_sec: Optional[float]
    input_wait_secs: Optional[float]
    time: Optional[float]
    gpus: List[Any]
    losses: Dict[str, float]


class Story(NamedTuple):
    """What a run left behind.

    manifest: run.json. records: of metrics.jsonl, steps ascending. unreadable: lines of it that are none.
    evaluations: entries of eval/metrics.json, steps ascending. best: the entry whose checkpoint is kept, None
    without one. running: a training holds the lock. drawing: PNG bytes of example pictures, b"" without;
    drawn_step: their step.
    """
    folder: str
    manifest: Dict[str, Any]
    records: List[Record]
    unreadable: int
    evaluations: List[Dict[str, Any]]
    best: Optional[Dict[str, Any]]
    running: bool
    drawing: bytes
    drawn_step: Optional[int]


def write(run_dir):
    """Writes RUN_DIR/report.html anew; returns its path.

    Raises:
        Refused: there is no run, or what it left cannot be read.
    """
    path = os.path.join(run_dir, NAME)
    try:
        content = page(read(run_dir))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Refused("What %s holds is not as a training or an evaluation wrote it (%s: %s)." % (
            run_dir, type(error).__name__, error), "Take %s and %s from a backup." % (
                runs.MANIFEST, os.path.join(evaluation.FOLDER, evaluation.METRICS)), PREFLIGHT_FAILED)
    files.write(path, content.encode("utf-8", "replace"))
    return path


def try_write(run_dir, console, say=True):
    """As `write`, at the end of something else that must not fail with it: says where it is, or why it is not.

    say: False says only why it is not.
    """
    try:
        path = write(run_dir)
        if say:
            console.say("The report is %s." % path)
    except Exception as error:      # whatever it is, how the training or evaluation ended is not changed by it
        console.log_traceback()
        console.say("The report could not be written: %s" % (
            error.what if isinstance(error, Refused) else "%s: %s." % (type(error).__name__, error)))


def read(run_dir):
    """The Story of a run. Raises Refused."""
    told = _read_json(os.path.join(run_dir, runs.MANIFEST))
    if not isinstance(told, dict):
        raise Refused("%s holds no run (no %s in it)." % (run_dir, runs.MANIFEST),
                      "Name the folder of a run.")
    records, unreadable = _records(os.path.join(run_dir, METRICS))
    measured = _read_json(os.path.join(run_dir, evaluation.FOLDER, evaluation.METRICS)) or {}
    entries = measured.get("evaluations", [])
    best = [entry for entry in entries if entry["step"] == measured.get("best_step")]
    drawing, step = _drawing(os.path.join(run_dir, evaluation.FOLDER), best, entries)
    return Story(run_dir, told, records, unreadable, sorted(entries, key=lambda entry: entry["step"]),
                 best[0] if best else None, runs.is_training(run_dir), drawing, step)


def _read_json(path):
    try:
        return read_json(path)
    except ValueError:
        raise Refused("%s is damaged: it is no JSON." % path, "Move it away, or take it from a backup.",
                      PREFLIGHT_FAILED)


def _drawing(folder, best, entries):
    """(PNG bytes, step) of the best evaluation's example pictures, else of the last one's."""
    for name, drawn in ((evaluation.BEST_DRAWING, best), (evaluation.DRAWING, entries[-1:])):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
        except FileNotFoundError:
            continue
        if drawn:
            return content, drawn[0]["step"]
    return b"", None


def _records(path):
    """(list of Record, how many lines are none). Where a training was gone on with, what it repeated counts once.

    A killed process may leave half a line at the end.
    """
    found, unreadable = [], 0
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                record = _record(line)
                if record is None:
                    unreadable += 1
                    continue
                while found and found[-1].step >= record.step:
                    found.pop()
                found.append(record)
    except FileNotFoundError:
        pass
    return found, unreadable


def _record(line):
    try:
        told = json.loads(line)
        step = _number(told["step"])
    except (ValueError, TypeError, KeyError):
        return None
    gpus = told.get("gpus")
    gpus = [(_number(gpu.get("percent")), _number(gpu.get("memory_mib"))) for gpu in gpus if isinstance(gpu, dict)
            ] if isinstance(gpus, list) else []
    losses = told.get("losses")
    losses = {name: _number(value) for name, value in losses.items()} if isinstance(losses, dict) else {}
    return None if step is None else Record(int(step), *[_number(told.get(name)) for name in NUMBERS], gpus=gpus,
                                            losses=losses)


def _number(value):
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_one else None


def page(story):
    """The whole page, as text."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    title = os.path.basename(os.path.abspath(story.folder))
    sections = [_head(story, title), _tiles(story), _curves(story), _evaluations(story), _pictures(story),
                _starts(story), _data(story), _settings(story), _made_of(story)]
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


def outcome(story):
    """(what to say, GOOD, BAD or OPEN) of how the run ended."""
    told = str(story.manifest.get("outcome", ""))
    if told == RUNNING:
        return ("Running", OPEN) if story.running else ("Killed", BAD)
    return OUTCOMES.get(told, (told or "Unknown", OPEN))


def _head(story, title):
    said, colour = outcome(story)
    told = story.manifest
    settings, devices = told.get("settings", {}), told.get("devices", {})
    count, kind = devices.get("count"), "GPU" if devices.get("kind") == "gpu" else "virtual CPU device"
    sentence = "%s on %s, with the %s trainer on %s %s%s" % (
        _extractor(told) or "A model", _of(told, "dataset", "name") or "unknown data", settings.get("trainer", "?"),
        count if count is not None else "?", kind, "" if count == 1 else "s")
    written = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    return '<header><h1>%s <span class="outcome %s">%s</span></h1><p>%s.</p><p class="quiet">%s</p></header>' % (
        html.escape(title), colour, html.escape(said), html.escape(sentence),
        html.escape("%s This page was written %s." % (_how_it_ended(story), written)))


def _how_it_ended(story):
    told, said = story.manifest, outcome(story)[0]
    if said == "Running":
        return "The training was going on, and what is below may have changed since."
    if said == "Killed":
        return ("The last training ended without a word: it was killed, or the machine went down. The same command "
                "goes on from the newest checkpoint.")
    code = told.get("exit_code")
    return "Ended %s%s." % (_when(told.get("ended")) or "at an unknown time",
                            "" if code is None else " with exit code %s" % code)


def _tiles(story):
    last = story.records[-1] if story.records else None
    step, total = _last_step(story), _config_value(story.manifest, "num_steps")
    tiles = [("Step", "-" if step is None else "%d" % step, "of %s" % total if total else "")]
    for entry in [story.best or (story.evaluations[-1] if story.evaluations else None)]:
        if entry is not None:
            metrics = entry["metrics"]
            tiles.append(("COCO mAP", _text(metrics.get(evaluation.MAP)), "mAP@.5IOU %s, step %d" % (
                _text(metrics.get(evaluation.MAP50)), entry["step"])))
            if evaluation.MASK_MAP in metrics:
                tiles.append(("Mask COCO mAP", _text(metrics[evaluation.MASK_MAP]), "mAP@.5IOU %s" % (
                    _text(metrics.get(evaluation.MASK_MAP50)))))
    if last is not None and last.loss is not None:
        tiles.append(("Loss", "%.3f" % last.loss, "at step %d" % last.step))
    rates = [record.images_per_sec for record in story.records if record.images_per_sec]
    if rates:
        tiles.append(("Images/s", "%.1f" % statistics.median(rates), "median, all devices"))
    waits = [share for share in _wait_shares(story) if share is not None]
    if waits:
        tiles.append(("Input wait", "%.0f %%" % statistics.median(waits), "of a step, median"))
    secs = [_secs(start) for start in _all_starts(story.manifest)]
    if any(secs):
        known = len([one for one in secs if one is not None])
        tiles.append(("Time", duration(sum(filter(None, secs))), "from start to end" if len(secs) == 1 else
                      "in %d starts" % known if known == len(secs) else "in %d of %d starts; the others did not "
                      "write down their end" % (known, len(secs))))
    return '<dl class="tiles">%s</dl>' % "".join(
        "<div><dt>%s</dt><dd>%s</dd><dd class=\"quiet\">%s</dd></div>" % tuple(map(html.escape, tile))
        for tile in tiles)


def _last_step(story):
    steps = [story.manifest.get("step")] + [record.step for record in story.records[-1:]]
    steps = [step for step in steps if isinstance(step, int)]
    return max(steps) if steps else None


def _curves(story):
    resumed = [start.get("start_step") for start in _all_starts(story.manifest) if start.get("start_step")]
    steps = [record.step for record in story.records]
    lines = [
        charts.Chart("Loss", [charts.Line("", steps, _column(story, "loss"))], logarithmic=True),
        charts.Chart("Accuracy", _accuracy(story), top=1, marks=True),
        charts.Chart("Parts of the loss", _parts(story, steps), logarithmic=True),
        charts.Chart("Learning rate", [charts.Line("", steps, _column(story, "learning_rate"))]),
        charts.Chart("Images/s", [charts.Line("", steps, _column(story, "images_per_sec"))]),
        charts.Chart("Input wait, % of a step", [charts.Line("", steps, _wait_shares(story))], top=100)]
    lines += _gpu_charts(story, steps)
    ends = [_last_step(story) or 0] + [entry["step"] for entry in story.evaluations]
    drawn = [charts.svg(chart, max(ends), resumed) for chart in lines if chart.has_points()]
    if not drawn:
        return "<section><h2>Curves</h2><p>No step was written down yet.</p></section>"
    notes = []
    if resumed:
        notes.append("Dotted lines: the training was gone on with there.")
    if story.unreadable:
        notes.append("%d line%s of %s could not be read and %s left out." % (
            story.unreadable, *(("", METRICS, "is") if story.unreadable == 1 else ("s", METRICS, "are"))))
    return '<section><h2>Curves</h2><div class="curves">%s</div>%s</section>' % (
        "".join("<figure>%s</figure>" % one for one in drawn),
        "".join('<p class="quiet">%s</p>' % html.escape(note) for note in notes))


def _column(story, name):
    return [getattr(record, name) for record in story.records]


def _parts(story, steps):
    """A Line of each part of the loss, where there is more than one."""
    names = sorted({name for record in story.records for name in record.losses})
    common = os.path.commonprefix(names)
    common = common[:common.rfind("/") + 1]
    return [charts.Line(name[len(common):], steps, [record.losses.get(name) for record in story.records])
            for name in names] if len(names) > 1 else []


def _accuracy(story):
    steps = [entry["step"] for entry in story.evaluations]
    lines = [charts.Line(label, steps, [_number(entry["metrics"].get(name)) for entry in story.evaluations])
             for label, name in (("COCO mAP", evaluation.MAP), ("mAP@.5IOU", evaluation.MAP50),
                                 ("mask COCO mAP", evaluation.MASK_MAP))]
    return [line for line in lines if any(value is not None for value in line.values)]


def _wait_shares(story):
    """Percent of a step's time that it waits for its input, of each record; None where it is not known."""
    batch = _config_value(story.manifest, "batch_size")
    return [min(100.0, 100 * record.input_wait_secs * record.images_per_sec / batch)
            if batch and record.input_wait_secs is not None and record.images_per_sec else None
            for record in story.records]


def _gpu_charts(story, steps):
    count = max([len(record.gpus) for record in story.records] or [0])

    def lines(index, factor):
        return [charts.Line("GPU %d" % gpu, steps, [
            record.gpus[gpu][index] * factor if gpu < len(record.gpus) and record.gpus[gpu][index] is not None
            else None for record in story.records]) for gpu in range(count)]
    return [charts.Chart("GPU use, %", lines(0, 1), top=100), charts.Chart("GPU memory, GiB", lines(1, 1 / 1024.0))]


def _evaluations(story):
    if not story.evaluations:
        return "<section><h2>Evaluation</h2><p>No checkpoint was evaluated yet.</p></section>"
    masks = any(evaluation.MASK_MAP in entry["metrics"] for entry in story.evaluations)
    names = [("COCO mAP", evaluation.MAP), ("mAP@.5IOU", evaluation.MAP50)]
    names += [("mask COCO mAP", evaluation.MASK_MAP), ("mask mAP@.5IOU", evaluation.MASK_MAP50)] if masks else []
    rows = [["%d%s" % (entry["step"], " (best, kept)" if entry is story.best else "")] + [
        _text(entry["metrics"].get(name)) for _, name in names] + [
        "%s of %s" % (entry.get("images", "?"), entry.get("images_expected", "?")), entry.get("weights", "?")]
        for entry in reversed(story.evaluations)]
    of_class = story.best or story.evaluations[-1]
    return "<section><h2>Evaluation</h2>%s<h3>By class, step %d</h3>%s</section>" % (
        _table(["step"] + [label for label, _ in names] + ["pictures", "weights"], rows), of_class["step"],
        _by_class(story, of_class))


def _by_class(story, entry):
    columns = [(key, heading) for key, _, heading in evaluation.PER_CLASS if entry.get(key)]
    names = {name for key, _ in columns for name in entry[key]}
    by = [key for key in ("per_class_ap", "per_class_ap50") if entry.get(key)][:1]
    order = sorted(names, key=lambda name: (-(entry[by[0]].get(name) or 0) if by else 0, name))
    rows = [[name] + [_text(entry[key].get(name)) for key, _ in columns] for name in order]
    classes = _of(story.manifest, "dataset", "classes") or []
    without = len(set(classes) - names)
    note = '<p class="quiet">%d of %d classes have no validation box.</p>' % (without, len(classes)) if (
        without) else ""
    return (_table(["class"] + [heading for _, heading in columns], rows) if rows else "") + note


def _pictures(story):
    if not story.drawing:
        return ""
    return ('<section><h2>Pictures, step %d</h2><p class="quiet">Solid: detections. Dashed: what is true.</p>'
            '<img alt="Detections drawn on validation pictures" src="data:image/png;base64,%s"></section>' % (
                story.drawn_step, base64.b64encode(story.drawing).decode("ascii")))


def _starts(story):
    rows = []
    for start in _all_starts(story.manifest):
        last = start is story.manifest
        told = outcome(story)[0].lower() if last else str(start.get("outcome", "?")).replace(RUNNING, "killed")
        secs, code = _secs(start), start.get("exit_code")
        rows.append([_when(start.get("started")) or "?", "" if secs is None else duration(secs),
                     str(start.get("start_step", "?")), _text(_last_step(story) if last else start.get("step")), told,
                     "" if code is None else str(code)])
    return "<section><h2>Starts</h2>%s</section>" % _table(
        ["started", "took", "from step", "to step", "outcome", "exit code"], rows)


def _data(story):
    data = story.manifest.get("dataset")
    if not isinstance(data, dict):
        return ""
    rows, checksums = [], []
    for split, shards in sorted(data.get("shards", {}).items()):
        rows.append([split, str(sum(shard.get("examples", 0) for shard in shards)), str(len(shards)),
                     "%.1f MB" % (sum(shard.get("bytes", 0) for shard in shards) / 1e6)])
        checksums += ["%s  %s" % (shard.get("sha256", "?"), shard.get("file", "?")) for shard in shards]
    classes = data.get("classes", [])
    return "<section><h2>Data</h2>%s%s%s%s</section>" % (
        _pairs([("dataset", data.get("name")), ("folder", data.get("folder"))]),
        _table(["split", "pictures", "shards", "size"], rows),
        _details("%d classes" % len(classes), "\n".join(map(str, classes))),
        _details("Checksums (sha256)", "\n".join(checksums)))


def _settings(story):
    told = story.manifest
    chosen = [(name.upper(), int(value) if isinstance(value, bool) else value)
              for name, value in sorted(told.get("settings", {}).items()) if value is not None]
    changes = told.get("config_changes") or []
    return "<section><h2>Settings</h2>%s%s%s%s%s</section>" % (
        _pairs([("config", told.get("config_file")), ("command", told.get("command"))]),
        "<h3>Changed in the config</h3><ul>%s</ul>" % "".join("<li>%s</li>" % html.escape(str(change))
                                                              for change in changes) if changes else "",
        "<h3>Settings, defaults included</h3>", _pairs(chosen),
        _details("The effective config", "\n".join(map(str, told.get("config") or []))))


def _made_of(story):
    told = story.manifest
    devices, host, api, code = [told.get(name) or {} for name in ("devices", "host", "api", "code")]
    versions = told.get("versions") or {}
    rows = [("devices", ", ".join(map(str, devices.get("used") or []))),
            ("GPUs", ", ".join(map(str, devices.get("gpus") or [])) or "none"), ("driver", devices.get("driver")),
            ("machine", host.get("machine")), ("CPUs", host.get("cpus")),
            ("in a container", {True: "yes", False: "no"}.get(host.get("container"))),
            ("code", " ".join(filter(None, [code.get("commit"), "with %d changed files" % len(code["changed"])
                                            if code.get("changed") else ""])) if isinstance(code, dict) else None),
            ("API", api.get("commit")), ("patches", len(api["patches"]) if "patches" in api else None)]
    rows += [(name, versions[name]) for name in PACKAGES if name in versions]
    return "<section><h2>Devices and versions</h2>%s%s</section>" % (
        _pairs(rows), _details("All packages", "\n".join("%s %s" % one for one in sorted(versions.items()))))


def _all_starts(told):
    return [start for start in told.get("earlier") or [] if isinstance(start, dict)] + [told]


def _secs(start):
    began, ended = _time(start.get("started")), _time(start.get("ended"))
    return (ended - began).total_seconds() if began and ended else None


def _time(text):
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")
    except (TypeError, ValueError):
        return None


def _when(text):
    when = _time(text)
    return when and when.strftime("%Y-%m-%d %H:%M:%S %z")


def _of(told, *names):
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told


def _extractor(told):
    """The feature extractor's type in the effective config."""
    match = re.search(r'feature_extractor \{\s*type: "([^"]*)"', "\n".join(map(str, told.get("config") or [])))
    return match and match.group(1)


def _config_value(told, name):
    """An integer of the effective config's train_config; None where there is none."""
    inside = False
    for line in map(str, told.get("config") or []):
        if not line.startswith(" "):
            inside = line.startswith("train_config {")
        match = re.match(r"  %s: (\d+)$" % name, line)
        if inside and match:
            return int(match.group(1))
    return None


def _text(value):
    return "-" if value is None else str(value) if isinstance(value, (int, str)) else "%.3f" % value


def _table(headings, rows):
    """Every column but the first is numbers or short words, and stands to the right."""
    return '<div class="wide"><table><thead><tr>%s</tr></thead><tbody>%s</tbody></table></div>' % (
        "".join("<th>%s</th>" % html.escape(heading) for heading in headings),
        "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(cell) for cell in row) for row in rows))


def _pairs(rows):
    return '<dl class="pairs">%s</dl>' % "".join(
        "<dt>%s</dt><dd>%s</dd>" % (html.escape(name), html.escape(str(value))) for name, value in rows
        if value not in (None, ""))


def _details(summary, text):
    return "<details><summary>%s</summary><pre>%s</pre></details>" % (
        html.escape(summary), html.escape(text)) if text else ""


def main(arguments=None):
    """Returns the exit code: 0, or that of the Refused."""
    parser = argparse.ArgumentParser(prog="python -m trainers.report", description=__doc__.splitlines()[0])
    parser.add_argument("run_dir", metavar="RUN_DIR", help="the folder of a run")
    asked = parser.parse_args(arguments)
    try:
        print("Wrote %s." % write(asked.run_dir))
    except Refused as refused:
        print("%s %s" % (refused.what, refused.do), file=sys.stderr)
        return refused.code
    except OSError as error:
        print("%s cannot be written: %s." % (os.path.join(asked.run_dir, NAME), error.strerror), file=sys.stderr)
        return PREFLIGHT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
