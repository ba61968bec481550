"""entrypoint.py train: checks everything, says what will happen, trains, and hands over to the evaluation."""

import copy
import os
import sys
from typing import List

from common import files
from common.errors import Refused, refuse_arguments
from common.project import PROJECT_DIR
from common.text import counted
from tfod_train.checkpoints import model_zoo
from tfod_train.commands import data
from tfod_train.config import batch_norm, learning_rates, pipeline
from tfod_train.preflight import checks
from tfod_train.process.console import Console
from tfod_train.report import page
from tfod_train.run import manifest, stop_request
from tfod_train.settings import Settings
from tfod_train.trainers.session import STOPPED, TrainingSession

# What counts at a run's first start alone.
BEGAN_WITH = ("fine_tune_checkpoint", "fine_tune_checkpoint_type", "load_all_detection_checkpoint_vars")


def train(settings: Settings, console: Console, arguments: List[str]) -> int:
    """Trains as the settings say; see entrypoint.py.

    Returns:
        exit code: 0, or 128 + signal when stopped. Does not return when EVAL_AT_END=1 goes on to the evaluation.
    """
    refuse_arguments("train", arguments)
    if settings.split.value != "val":
        raise Refused(
            f"SPLIT={settings.split.value} has no meaning for a training, which is evaluated on its val split.",
            "Leave it out here; make eval SPLIT=test evaluates the test split afterwards.",
        )
    looked = checks.look(settings, make_data=lambda: _make_data(settings, console))
    run = looked.run()
    run = run._replace(start_step=run.run_dir.prepare(run.config, settings, console.say))
    if run.start_step >= run.total_steps:
        console.say(
            f"This run is finished: {run.run_dir} holds step {run.start_step}, and {run.total_steps} "
            "steps were asked for. No step is taken."
        )
        manifest.finish(run.run_dir, "finished", run.start_step, 0)
        return _afterwards(run, console)
    for line in looked.warnings:
        console.say(f"{line.text} {line.do}")
    if run.start_step:
        run = _as_it_began(run)
    if looked.source and looked.source.how:
        console.say(looked.source.how)
    _say_what_will_happen(run, console)
    _begin(run, looked.source.text if looked.source else None)
    return _train(run, console) or _afterwards(run, console)


def _make_data(settings, console):
    """Everything that a training fetches or makes by itself."""
    data.ensure(settings, console)
    if settings.fine_tune_checkpoint:
        model_zoo.ensure(settings.fine_tune_checkpoint, settings.data_dir, console.say)


def _as_it_began(run):
    """A resumed run whose config goes on saying what its first start took, though another would be chosen today."""
    before, now = run.run_dir.read_config().train_config, run.config.train_config
    for field in BEGAN_WITH:
        now.ClearField(field)
        if before.HasField(field):
            setattr(now, field, getattr(before, field))
    return run._replace(changes=[line for line in run.changes if line.partition(":")[0] not in BEGAN_WITH])


def _begin(run, config_text=None):
    """Writes down what the run is, and the config that was written for it."""
    whole = copy.deepcopy(run.config)
    if run.start_step:
        # The run resumes from its own checkpoint; what it began with is not read again.
        run.config.train_config.ClearField("fine_tune_checkpoint")
    # run.json first: files of a run's names without it are somebody else's.
    run.run_dir.write_config(whole, before=lambda: _start(run, config_text))
    # After the manifest: an evaluation beside counts its patience from the step at which that says we began.
    stop_request.withdraw(run.run_dir)


def _start(run, config_text):
    manifest.start(run)
    if config_text:
        files.write(run.config_path, config_text.encode("utf-8"))


def _train(run, console):
    """Trains, and writes the report however that ends; returns the exit code."""
    try:
        outcome = TrainingSession(run, console, lambda: page.try_write(run.run_dir, console, say=False)).train()
    except Exception:
        page.try_write(run.run_dir, console, say=False)
        raise
    page.try_write(run.run_dir, console, say=outcome.word == STOPPED or not run.settings.eval_at_end)
    return outcome.code


def _afterwards(run, console):
    """What follows the last step: the evaluation, or a word on where the checkpoints are."""
    if run.settings.eval_at_end:
        _become_the_evaluation(run, console)
    console.say(f"The checkpoints are in {run.run_dir}.")
    return 0


def _say_what_will_happen(run, console):
    name = pipeline.model_of(run.config).feature_extractor.type
    dataset = run.dataset
    console.say(
        f"Training {name} on {dataset.name} ({dataset.examples('train')} images, {len(dataset.classes)} classes; "
        f"{dataset.found_how}) with the {run.settings.trainer.value} trainer."
    )
    console.say(_devices_and_batch(run))
    for change in run.changes:
        console.say("  " + change)
    for caution in batch_norm.cautions(run.config, run.devices.count):
        console.say("  " + caution)
    path = run.config_path if run.settings.pipeline_config else os.path.relpath(run.config_path)
    console.say(f"Config {path}; everything goes to {run.run_dir}, TensorFlow's own log to {run.run_dir.log}.")
    if run.settings.early_stop_patience:
        console.say(
            "Stops early when an evaluation beside it (make eval) asks for that, after "
            f"{run.settings.early_stop_patience} evaluations without a better COCO mAP."
        )
    console.say(
        f"Resuming from step {run.start_step} to {run.total_steps}."
        if run.start_step
        else f"From step 0 to {run.total_steps}."
    )


def _devices_and_batch(run):
    devices, servers = run.devices, run.settings.ps_tasks
    where = (
        counted(devices.count, "GPU")
        if devices.kind == "gpu"
        else (f"{counted(devices.count, 'virtual CPU device')}, no GPU")
    )
    held = f"variables on {counted(servers, 'parameter server')}; " if servers else ""
    rate = learning_rates.initial(run.config)
    learning_rate = f"; learning rate {rate:.4g}" if rate else ""
    average = "on" if run.config.train_config.optimizer.use_moving_average else "off"
    return f"{where}; {held}{pipeline.batch_line(run.config, devices)}{learning_rate}; moving average {average}."


def _become_the_evaluation(run, console):
    """Evaluates in a new program: that gives back the GPU memory which TensorFlow holds until its process ends."""
    console.release()
    environ = dict(os.environ, EVAL_MODE="once", RUN_DIR=run.run_dir.path)
    if run.settings.cuda_visible_devices is None:
        environ.pop("CUDA_VISIBLE_DEVICES", None)
    else:
        environ["CUDA_VISIBLE_DEVICES"] = run.settings.cuda_visible_devices
    entrypoint = os.path.join(PROJECT_DIR, "entrypoint.py")
    os.execve(sys.executable, [sys.executable, entrypoint, "eval"], environ)
