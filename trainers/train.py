"""entrypoint.py train: checks everything, says what will happen, trains, and hands over to the evaluation."""

import os
import sys
import time

from trainers import (
    batch_norm,
    data,
    diverged,
    exhausted,
    find,
    manifest,
    pipeline,
    preflight,
    report,
    seed,
    stop_request,
    zoo,
)
from trainers import devices as device_choice
from trainers import run_dir as runs
from trainers.console import duration
from trainers.errors import DIVERGED, FAILED, PREFLIGHT_FAILED, STALLED, Refused, refuse_arguments
from trainers.gpu_use import GpuWatch
from trainers.health import Health
from trainers.parameter_servers import ParameterServers
from trainers.signals import StopRequest
from trainers.watchdog import Watchdog

OUTCOMES = {DIVERGED: "diverged", FAILED: "failed"}


def train(settings, console, arguments):
    """Trains as the settings say; see entrypoint.py.

    Returns:
        exit code: 0, or 128 + signal when stopped. Does not return when EVAL_AT_END=1 goes on to the evaluation.
    """
    refuse_arguments("train", arguments)
    looked = preflight.look(settings, make_data=lambda: _make_data(settings, console))
    looked.refuse()
    devices, dataset, config_path, config, changes, folder = looked.plan
    start_step = runs.prepare(folder, config, settings, console.say)
    if start_step >= config.train_config.num_steps:
        console.say(
            f"This run is finished: {folder} holds step {start_step}, and {config.train_config.num_steps} "
            "steps were asked for. No step is taken."
        )
        manifest.finish(folder, "finished", start_step, 0)
        return _afterwards(settings, console, folder)
    for line in looked.warnings:
        console.say(f"{line.text} {line.do}")
    _say_what_will_happen(console, settings, devices, dataset, config_path, config, changes, folder, start_step)
    runs.write_config(folder, config)
    if start_step:
        # The run's own checkpoint is gone on from; what it began with is not read again.
        config.train_config.ClearField("fine_tune_checkpoint")
    manifest.start(folder, settings, config, dataset, devices, config_path, changes, start_step)
    # After the manifest: an evaluation beside counts its patience from the step at which that says we began.
    stop_request.withdraw(folder)
    return _run(settings, console, devices, config, folder) or _afterwards(settings, console, folder)


def _make_data(settings, console):
    """Everything that a training fetches or makes by itself."""
    data.ensure(settings, console)
    if settings.fine_tune_checkpoint:
        zoo.ensure(settings.fine_tune_checkpoint, settings.data_dir, console.say)


def _afterwards(settings, console, folder):
    """What follows the last step: the evaluation, or a word on where the checkpoints are."""
    if settings.eval_at_end:
        _become_the_evaluation(settings, console, folder)
    console.say(f"The checkpoints are in {folder}.")
    return 0


def _say_what_will_happen(console, settings, devices, dataset, config_path, config, changes, folder, start_step):
    train_config = config.train_config
    name = pipeline.model_of(config).feature_extractor.type
    console.say(
        f"Training {name} on {dataset.name} ({dataset.examples('train')} pictures, {len(dataset.classes)} "
        f"classes; {dataset.found_how}) with the {settings.trainer.value} trainer."
    )
    where = (
        f"{devices.count} GPU{'s' if devices.count > 1 else ''}"
        if devices.kind == "gpu"
        else (f"{devices.count} virtual CPU device{'s' if devices.count > 1 else ''}, no GPU")
    )
    rate = pipeline.initial_rate(config)
    servers = settings.ps_tasks
    held = f"variables on {servers} parameter server{'s' if servers > 1 else ''}; " if servers else ""
    console.say(
        "%s; %s%s%s; moving average %s."
        % (
            where[0].upper() + where[1:],
            held,
            pipeline.batch_line(config, devices),
            f"; learning rate {rate:.4g}" if rate else "",
            "on" if train_config.optimizer.use_moving_average else "off",
        )
    )
    for change in changes:
        console.say("  " + change)
    for caution in batch_norm.cautions(config, devices.count):
        console.say("  " + caution)
    console.say(
        f"Config {os.path.relpath(config_path) if not settings.pipeline_config else config_path}; everything "
        f"goes to {folder}, TensorFlow's own log to {os.path.join(folder, runs.LOG)}."
    )
    if settings.early_stop_patience:
        console.say(
            "Stops early when an evaluation beside it (make eval) asks for that, after "
            f"{settings.early_stop_patience} evaluations without a better COCO mAP."
        )
    if start_step:
        console.say(f"Going on from step {start_step} to {train_config.num_steps}.")
    else:
        console.say(f"From step 0 to {train_config.num_steps}.")


def _run(settings, console, devices, config, folder):
    """Trains; returns 0 or the exit code of the signal that stopped it."""
    health = Health(stall_secs=settings.stall_secs)
    health.beat("building")
    console.capture(os.path.join(folder, runs.LOG), debug=settings.log_level.value == "debug")
    began = time.time()
    hooks = []
    stop = StopRequest(console.say_from_signal, lambda number: _end(folder, "stopped", hooks, 128 + number))
    stop.install()
    console.say("Building the graph; the first step takes much longer than those after it.")

    def stalled(silent_secs):
        health.beat("stalled")
        console.error(
            f"No step for {duration(silent_secs)}; the last one was "
            f"{hooks[0].step if hooks and hooks[0].step else 'none'}.\nThe stacks of all threads are in "
            f"{os.path.join(folder, runs.LOG)}; the same command goes on from the newest checkpoint, and "
            "STALL_SECS waits longer."
        )
        console.log_stacks()
        _end(folder, "stalled", hooks, STALLED)
        report.try_write(folder, console, say=False)

    device_choice.hide_the_rest(devices)
    if settings.seed is not None:
        seed.choose_deterministic_kernels()
    try:
        with Watchdog(settings.stall_secs, stalled) as watchdog:
            _train_with(settings, console, devices, config, folder, health, stop, began, hooks, watchdog)
    except Exception as error:
        told = _told(error, config, devices, folder, console.say)
        code = told.code if isinstance(told, Refused) else FAILED
        if code == PREFLIGHT_FAILED:
            runs.remove_half_written(folder)
        _end(folder, OUTCOMES.get(code, "refused"), hooks, code)
        report.try_write(folder, console, say=False)
        if told is error:
            raise
        console.log_traceback()
        raise told from error
    hook = hooks[0]
    early = stop_request.reason(folder) if not stop.requested and hook.step < config.train_config.num_steps else None
    outcome = "stopped" if stop.requested else "stopped early" if early else "finished"
    _end(folder, outcome, hooks, stop.exit_code if stop.requested else 0)
    stop.steps_are_over()
    report.try_write(folder, console, say=bool(stop.requested) or not settings.eval_at_end)
    if early:
        console.say(f"Stopped early: {early}. The same command goes on from here.")
    rate = hook.images_per_sec()
    console.say(
        "%s at step %d after %s (first step after %s)%s; loss %.3f; saved %s."
        % (
            "Trained" if outcome == "finished" else "Stopped",
            hook.step,
            duration(time.time() - began),
            duration(hook.first_step_secs),
            f"; {rate:.1f} images/s" if rate else "",
            hook.last_loss,
            _newest(folder),
        )
    )
    return stop.exit_code if stop.requested else 0


def _told(error, config, devices, folder, say):
    """The error, as a Refused where we know what it means."""
    if isinstance(error, Refused):
        return error
    if exhausted.disk_is_full(error):
        return exhausted.full_disk(error, folder)
    if exhausted.memory_is_full(error):
        return exhausted.full_memory(error, config.train_config.batch_size, devices)
    gpu_failed = exhausted.gpu_failed(error)
    if gpu_failed:
        return gpu_failed
    if any(words in str(error) for words in ("Nan in summary histogram", "LossTensor is inf or nan")):
        return diverged.refused("a weight or the loss is not finite", folder, say)
    return error


def _train_with(settings, console, devices, config, folder, health, stop, began, hooks, watchdog):
    def lost(what):
        _end(folder, "failed", hooks, FAILED)
        console.error(f"{what}\nStart the training again: it goes on from the newest checkpoint.")
        os._exit(FAILED)

    # They import TensorFlow while this process does.
    with ParameterServers(settings.ps_tasks, lost) as servers:
        _train_on(servers, settings, console, devices, config, folder, health, stop, began, hooks, watchdog)


def _train_on(servers, settings, console, devices, config, folder, health, stop, began, hooks, watchdog):
    from trainers.quiet import import_tensorflow

    import_tensorflow()
    device_choice.check_session_devices(devices)
    from trainers.progress import StepHook

    def make_step_hook(loss):
        hooks.append(
            StepHook(
                console,
                health,
                stop,
                folder,
                config.train_config.num_steps,
                config.train_config.batch_size,
                began,
                watchdog.beat,
                config.train_input_reader.tf_record_input_reader.input_path,
                loss,
                gpu_watch,
            )
        )
        return hooks[-1]

    from trainers.first_step import without_garbage_collection

    gpu_watch = GpuWatch(device_choice.entries(devices), console.log)
    with without_garbage_collection(), gpu_watch:
        if settings.trainer.value == "clone":
            from trainers import clone

            clone.train(config, settings, devices, folder, make_step_hook, console.say, servers)
        else:
            from trainers import mirrored

            mirrored.train(config, settings, devices, folder, make_step_hook, console.say)
    diverged.refuse_broken_weights(folder, console.say)


def _newest(folder):
    newest = find.newest_checkpoint(folder)
    return newest[0] if newest else "not there"


def _end(folder, outcome, hooks, code):
    try:
        manifest.finish(folder, outcome, hooks[0].step if hooks else None, code)
    except OSError:
        pass  # the disk may be full or gone, which is said elsewhere; how it ended, the exit code says too


def _become_the_evaluation(settings, console, folder):
    """Evaluates in a new program: that gives back the GPU memory which TensorFlow holds until its process ends."""
    console.release()
    environ = dict(os.environ, EVAL_MODE="once", RUN_DIR=folder)
    if settings.cuda_visible_devices is None:
        environ.pop("CUDA_VISIBLE_DEVICES", None)
    else:
        environ["CUDA_VISIBLE_DEVICES"] = settings.cuda_visible_devices
    entrypoint = os.path.join(pipeline.PROJECT_DIR, "entrypoint.py")
    os.execve(sys.executable, [sys.executable, entrypoint, "eval"], environ)
