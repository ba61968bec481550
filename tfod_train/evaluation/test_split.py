"""The test split of a run's dataset, evaluated with the checkpoint that was chosen without it.

Its results have files of their own: they choose no best checkpoint and stop no training.
"""

import os
from typing import Any, Callable, Dict, NamedTuple

from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED, Refused
from common.json_files import read_json, write_json
from data_prep.writer import shards
from data_prep.writer.dataset import DATASET_FILE
from tfod_train.checkpoints import best
from tfod_train.devices import devices as device_choice
from tfod_train.evaluation import measure
from tfod_train.process.console import Console
from tfod_train.process.health import Health
from tfod_train.run import evaluations
from tfod_train.run.run_dir import CONFIG, RunDir
from tfod_train.settings import Settings

SPLIT = "test"


class Chosen(NamedTuple):
    """The checkpoint that is evaluated; how: half a sentence on why it is this one."""

    checkpoint: str
    step: int
    how: str


def run(settings: Settings, console: Console, afterwards: Callable[[RunDir], None]) -> None:
    """Evaluates the test split of RUN_DIR's dataset, once a checkpoint.

    Args:
        settings: RUN_DIR and what an evaluation needs.
        console: where people see the results.
        afterwards: function(run_dir), called when the evaluation is written down.

    Raises:
        Refused: there is no run, no checkpoint, or no test split of the records that the run was trained on.
    """
    devices = device_choice.for_evaluation(settings, device_choice.gpus_of_this_machine())
    run_dir = RunDir.of(settings)
    if not run_dir.holds_a_config():
        raise Refused(
            f"{run_dir} holds no run ({CONFIG} is missing).", "Set RUN_DIR to the folder of a run.", SETTINGS_REFUSED
        )
    chosen, config = choose(run_dir), config_for(run_dir, settings)
    images = config.eval_config.num_examples
    console.say(f"Evaluating the {SPLIT} split ({images} images) with step {chosen.step} of {run_dir}, {chosen.how}.")
    out = run_dir.evaluations
    os.makedirs(out.path, exist_ok=True)
    places = measure.Places(out.test_detections, out.test_events)
    measuring = measure.Measure(measure.Evaluated(run_dir, settings, devices), config, places, console, Health())
    with measure.one_at_a_time(out):
        entry = _entry(out, chosen, measuring, console)
    afterwards(run_dir)
    measuring.show(entry)


def choose(run_dir: RunDir) -> Chosen:
    """The best checkpoint where one is kept, else the newest. Raises Refused where there is none."""
    kept = best.kept(run_dir.path)
    if kept:
        return Chosen(kept.checkpoint, kept.step, "the best by its val split")
    newest = run_dir.newest_checkpoint()
    if newest is None:
        raise Refused(f"{run_dir} holds no checkpoint to evaluate.", "Train first, or set RUN_DIR.", PREFLIGHT_FAILED)
    return Chosen(newest[0], newest[1], "the newest, since no evaluation has chosen a best one")


def config_for(run_dir: RunDir, settings: Settings) -> Any:
    """The run's config (TrainEvalPipelineConfig) with the test split in the place of its val split.

    Raises:
        Refused: the records that the run was trained on are not there any more, or have no test split.
    """
    split, folder = _described(run_dir)
    config = run_dir.config_for(settings)
    paths = config.eval_input_reader[0].tf_record_input_reader.input_path
    del paths[:]
    paths.extend(shards.patterns(folder, split))
    config.eval_config.num_examples = split["examples"]
    measure.check_records(config)
    return config


def _described(run_dir):
    """(test split of the dataset.json, its folder) of the records that the run was trained on."""
    trained = run_dir.read_manifest().get("dataset") or {}
    folder = trained.get("folder", "")
    description = read_json(os.path.join(folder, DATASET_FILE)) if folder else None
    splits = (description or {}).get("splits", {})
    if "train" not in splits:
        raise Refused(
            f"The dataset of {run_dir} is not in {folder or 'a known folder'} any more.",
            "Put it back, or run from the folder the training ran in.",
            PREFLIGHT_FAILED,
        )
    if splits["train"]["shards"] != (trained.get("shards") or {}).get("train"):
        raise Refused(
            f"{folder} holds other records than {run_dir} was trained on; its test images may be among those.",
            "Put the dataset back that run.json names by checksum, or train on this one.",
            PREFLIGHT_FAILED,
        )
    if not splits.get(SPLIT, {}).get("examples"):
        raise Refused(
            f"SPLIT={SPLIT}, but {folder} has no {SPLIT} split: it has {', '.join(sorted(splits))}.",
            "Name one when the data is made (folders, image sets or files called test), or leave SPLIT out.",
            SETTINGS_REFUSED,
        )
    return splits[SPLIT], folder


def _entry(out, chosen, measuring, console) -> Dict[str, Any]:
    metrics = read_json(out.test_metrics, "Move it away; it is written anew.") or {"evaluations": []}
    identity = evaluations.identity(chosen.checkpoint)
    entry = evaluations.done(metrics, chosen.step, identity)
    if entry:
        console.say(f"Step {chosen.step} was evaluated before.")
        return entry
    try:
        with measure.in_hand(out, chosen.checkpoint) as in_hand:
            entry = dict(measuring.entry(in_hand), checkpoint=identity, split=SPLIT)
    except best.Gone as why:
        raise Refused(
            f"Checkpoint {chosen.checkpoint} cannot be evaluated: {why}.", "Evaluate again.", PREFLIGHT_FAILED
        ) from why
    metrics["evaluations"] = [one for one in metrics["evaluations"] if one["step"] != chosen.step] + [entry]
    write_json(out.test_metrics, metrics)
    return entry
