"""A checkpoint becomes files that other programs load, each compared with it first."""

import contextlib
import glob
import hashlib
import os
import shutil
from typing import NamedTuple, Optional

from google.protobuf import text_format

from common import files
from common.errors import FAILED, PREFLIGHT_FAILED, Refused
from common.json_files import write_json
from tfod_train.checkpoints import best
from tfod_train.config import pipeline
from tfod_train.devices import devices as device_choice
from tfod_train.export import compare
from tfod_train.process.console import Console
from tfod_train.run import manifest, plugins
from tfod_train.run.run_dir import CONFIG, RunDir
from tfod_train.settings import Settings

FOLDER = "export"
LOG = "export.log"
FROZEN = "frozen_inference_graph.pb"
SAVED_MODEL = "saved_model"
TFLITE = "model.tflite"
LABEL_MAP = "label_map.pbtxt"
DESCRIPTION = "export.json"
IMAGES = 3
# Float files: the most that coordinates (shares of the image's sides), scores and the probabilities in masks may
# differ. What is farther apart than NEAR in box or score is no match at all.
BOXES = SCORES = MASKS = 1e-3
NEAR = 0.1
# A uint8 file rounds every layer to 256 values, and suppression turns that into other boxes of the same objects.
ROUNDED = {"least_score": 0.3, "overlap": 0.5, "near": 0.1}
FOUND_AGAIN = 0.8


class Chosen(NamedTuple):
    """The checkpoint to export: of which run, its path without .index, its step (None: unknown), how it was chosen."""

    run_dir: RunDir
    checkpoint: str
    step: Optional[int]
    how: str


def write(chosen: Chosen, settings: Settings, console: Console, out: Optional[str], with_tflite: bool) -> str:
    """Exports a checkpoint, on the CPU; see docs/export.md.

    Args:
        chosen: what `choose` gave.
        settings: PLUGINS, USE_MOVING_AVERAGE and LOG_LEVEL count.
        console: where people see what is done.
        out: a folder that is not there yet; None takes RUN_DIR/export/STEP.
        with_tflite: False leaves the TFLite file out.

    Returns:
        the folder that was made.

    Raises:
        Refused: something that is needed is not there, or a file does not detect what the checkpoint does.
    """
    run_dir, checkpoint, step, _ = chosen
    config = run_dir.config_for(settings)
    name = os.path.basename(checkpoint) if step is None else str(step)
    out = os.path.abspath(out or os.path.join(run_dir.file(FOLDER), name))
    _refuse_what_is_there(out)
    records = _validation_records(config)
    if not os.path.isfile(_label_map(config)):
        raise Refused(
            f"The label map {_label_map(config)} is not there.",
            "Make the dataset again, or run from the folder the training ran in.",
            PREFLIGHT_FAILED,
        )
    console.say(f"Exporting {os.path.basename(checkpoint)} of {run_dir} ({chosen.how}) on the CPU.")
    with files.locked(os.path.dirname(out)):
        _refuse_what_is_there(out)  # another export, which was waited for, may have made it
        _remove_left_over(out)
        unfinished = files.temporary(out)
        os.makedirs(unfinished)
        try:
            console.capture(run_dir.file(LOG), debug=settings.log_level.value == "debug")
            # First of all: a training beside may delete the checkpoint while TensorFlow is imported.
            with _in_hand(checkpoint, out) as held:
                _start_tensorflow(plugins.of_run(settings.plugins, run_dir))
                description = _write(config, held, records, unfinished, with_tflite, console)
            description.update(
                run=os.path.abspath(run_dir.path), checkpoint=os.path.abspath(checkpoint), step=step, chosen=chosen.how
            )
            write_json(os.path.join(unfinished, DESCRIPTION), description)
            _flush(unfinished)
            os.rename(unfinished, out)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return out


def _refuse_what_is_there(out):
    if os.path.lexists(out):
        raise Refused(f"{out} is there already.", "Delete it, or name another folder with --out.")


@contextlib.contextmanager
def _in_hand(checkpoint, out):
    """Path of the checkpoint where no training beside deletes it meanwhile; errors name the one asked for."""
    aside = files.temporary(out + ".in_hand")
    try:
        yield best.set_aside(checkpoint, aside)
    except best.Gone as why:
        raise Refused(f"Checkpoint {checkpoint} cannot be read: {why}.", "Take another one.", PREFLIGHT_FAILED) from why
    except Refused as refused:
        held = os.path.join(aside, os.path.basename(checkpoint))
        raise Refused(refused.what.replace(held, checkpoint), refused.do, refused.code) from refused
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def choose(run_dir: RunDir, asked: Optional[str]) -> Chosen:
    """The checkpoint that is meant.

    Args:
        run_dir: the settings' run.
        asked: None (the best, else the newest), `best`, `newest`, or a path.

    Raises:
        Refused: it is not there.
    """
    if asked is not None and asked not in ("best", "newest"):
        checkpoint = asked[: -len(".index")] if asked.endswith(".index") else asked
        if not os.path.isfile(checkpoint + ".index"):
            raise Refused(
                f"There is no checkpoint {checkpoint} (no .index file of that name).",
                "Name its path without .index, or best, or newest.",
            )
        return Chosen(_run_of(checkpoint, run_dir), checkpoint, _step(checkpoint), "named")
    if not run_dir.holds_a_config():
        raise Refused(f"{run_dir} holds no run (no {CONFIG} in it).", "Set RUN_DIR to the folder of a run.")
    kept = best.kept(run_dir.path)
    if asked == "best" and kept is None:
        raise Refused(
            f"{run_dir} has no best checkpoint: none was evaluated yet.",
            "Evaluate the run (make eval), or take --checkpoint newest.",
            PREFLIGHT_FAILED,
        )
    if kept is not None and asked != "newest":
        how = f"the best of its evaluations, {kept.metric} {kept.value:.3f}"
        return Chosen(run_dir, kept.checkpoint, kept.step, how)
    newest = run_dir.newest_checkpoint()
    if newest is None:
        raise Refused(f"{run_dir} holds no checkpoint to export.", "Train first, or set RUN_DIR.", PREFLIGHT_FAILED)
    return Chosen(run_dir, newest[0], newest[1], "the newest" + ("" if asked else "; no best one is kept"))


def _run_of(checkpoint, run_dir):
    """The run that a checkpoint lies in, so that its own config is read; else the settings' one."""
    beside = os.path.dirname(checkpoint) or "."
    for candidate in (beside, os.path.dirname(os.path.abspath(beside)), run_dir.path):
        if RunDir(candidate).holds_a_config():
            return RunDir(candidate)
    raise Refused(
        f"{checkpoint} lies in no run, and {run_dir} holds no {CONFIG}.", "Set RUN_DIR to the run whose model it is."
    )


def _step(checkpoint):
    """Of a checkpoint's name; None where it has none."""
    number = checkpoint.rpartition("-")[2]
    return int(number) if number.isdigit() else None


def _label_map(config):
    return config.eval_input_reader[0].label_map_path


def _validation_records(config):
    """The first serialized examples of the validation split, IMAGES of them or as many as there are."""
    from data_prep.tfrecord import codec

    found = []
    patterns = config.eval_input_reader[0].tf_record_input_reader.input_path
    for path in sorted(path for pattern in patterns for path in glob.glob(pattern)):
        for record in codec.read(path):
            found.append(record)
            if len(found) == IMAGES:
                return found
    if not found:
        raise Refused(
            f"There are no validation records to compare the export on ({', '.join(patterns)}).",
            "Make the dataset again, or run from the folder the training ran in.",
            PREFLIGHT_FAILED,
        )
    return found


def _start_tensorflow(plugins_wanted):
    device_choice.hide_the_rest(device_choice.Devices("cpu", 1, "-1", ("/cpu:0",)))
    from tfod_train.process.tensorflow_log import import_tensorflow

    import_tensorflow()
    plugins.load(plugins_wanted)


def _write(config, checkpoint, records, folder, with_tflite, console):
    """Writes and compares all files; returns what export.json says of them."""
    from tfod_train.export import frozen_graph, inference, tflite

    own = inference.Checkpoint(config, checkpoint, config.eval_config.use_moving_averages)
    console.say(f"Taking the {own.weights} weights.")
    expected = [own.detect(record) for record in records]
    images = [own.image(record) for record in records]
    frozen_graph.write(config, checkpoint, folder, FROZEN, SAVED_MODEL)
    compared, tflite_input = {}, None
    for name, load in ((FROZEN, inference.FrozenGraph), (SAVED_MODEL, inference.SavedModel)):
        model = load(os.path.join(folder, name))
        compared[name] = _same(name, expected, [model.detect(image) for image in images], config, console)
    obstacle = tflite.obstacle(config) if with_tflite else "--no-tflite was given"
    if obstacle:
        console.say(f"  no TFLite file: {obstacle}")
    else:
        path = os.path.join(folder, TFLITE)
        tflite_input = frozen_graph.write_tflite(config, checkpoint, path)
        model = inference.TFLite(path, tflite_input.scale, tflite_input.offset)
        found = [model.detect(own.seen(record)) for record in records]
        comparison = _same if tflite_input.dtype == "float32" else _rounded
        compared[TFLITE] = comparison(TFLITE, expected, found, config, console)
    shutil.copyfile(_label_map(config), os.path.join(folder, LABEL_MAP))
    files.write(os.path.join(folder, CONFIG), text_format.MessageToString(config).encode("utf-8"))
    return {
        "model": pipeline.model_of(config).feature_extractor.type,
        "weights": own.weights,
        "pictures_compared": len(records),
        "compared": compared,
        "tflite_missing": obstacle,
        "tflite_input": tflite_input._asdict() if tflite_input else None,
        "files": _checksums(folder),
        "versions": manifest.versions(),
        "made": manifest.now(),
    }


def _same(name, expected, found, config, console):
    """What export.json says of the comparison; raises Refused where the detections in the images differ."""
    total = compare.NONE
    for one, other in zip(expected, found):
        total = total.and_of(compare.difference(one, other, NEAR, SCORES, _most_detections(config)))
    if not total.within(BOXES, SCORES, MASKS):
        raise _differs(
            name,
            f"{total.unmatched} detections have no match, coordinates differ by up to {total.boxes:.2g}, "
            f"scores by up to {total.scores:.2g}, masks by up to {total.masks:.2g}",
        )
    differences = {"boxes": total.boxes, "scores": total.scores}
    masks = ""
    if any(one.masks is not None for one in expected):
        differences["masks"] = total.masks
        masks = f", masks to {total.masks:.1g}"
    console.say(
        f"  {name:<26} {total.matched} detections in {len(found)} images as the checkpoint's, "
        f"coordinates to {total.boxes:.1g}, scores to {total.scores:.1g}{masks}"
    )
    return {"detections": total.matched, "largest_difference": differences}


def _rounded(name, expected, found, config, console):
    """As _same, for a file whose layers are rounded to 256 values: it finds most of the same objects again."""
    pairs = [compare.found_again(one, other, **ROUNDED) for one, other in zip(expected, found)]
    again, wanted = (sum(counts) for counts in zip(*pairs))
    if again < FOUND_AGAIN * wanted:
        raise _differs(name, f"it finds {again} of the checkpoint's {wanted} detections again")
    console.say(
        f"  {name:<26} uint8: finds {again} of the checkpoint's {wanted} detections with a score of "
        f"{ROUNDED['least_score']:.1f} and more again"
    )
    return {"detections": wanted, "found_again": again, "rule": ROUNDED}


def _differs(name, how):
    return Refused(
        f"{name} does not detect what the checkpoint does: {how}. Nothing was exported.",
        "--no-tflite leaves the TFLite file out."
        if name == TFLITE
        else f"Export once more; if it stays so, report it with the run's {LOG}.",
        FAILED,
    )


def _most_detections(config):
    model = pipeline.model_of(config)
    processing = (
        model.post_processing if config.model.WhichOneof("model") == "ssd" else model.second_stage_post_processing
    )
    return processing.batch_non_max_suppression.max_total_detections


def _checksums(folder):
    """bytes and sha256 of each file below folder, by relative path."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                data = file.read()
            found[os.path.relpath(path, folder)] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return found


def _flush(folder):
    """Sees that what is renamed next is on the disk."""
    for parent, _, names in os.walk(folder):
        for path in [os.path.join(parent, name) for name in names] + [parent]:
            files.sync(path)


def _remove_left_over(out):
    """What a killed export of the same name left."""
    folder, name = os.path.split(out)
    for path in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.tmp")):
        shutil.rmtree(path, ignore_errors=True)
