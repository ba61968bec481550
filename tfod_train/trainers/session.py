"""A training from the first line of its log to its outcome: console, signals, watchdog, trainer, run.json."""

import os
import time
from typing import Callable, List, NamedTuple

from common.errors import DIVERGED, FAILED, PREFLIGHT_FAILED, STALLED, Refused
from tfod_train.checkpoints import divergence, integrity
from tfod_train.devices import devices as device_choice
from tfod_train.devices.gpu_monitor import GpuWatch
from tfod_train.observers import StepObserver, Training
from tfod_train.observers.speed import Speed
from tfod_train.process import resource_errors
from tfod_train.process.console import Console, duration
from tfod_train.process.health import Health
from tfod_train.process.signals import StopRequest
from tfod_train.process.watchdog import Watchdog
from tfod_train.run import manifest, plugins, stop_request
from tfod_train.run.context import Run
from tfod_train.trainer import TRAINERS
from tfod_train.trainers import seed
from tfod_train.trainers.parameter_servers import ParameterServers

FINISHED, STOPPED, STOPPED_EARLY = "finished", "stopped", "stopped early"
# How a training that an error ended stands in run.json, by its exit code; "refused" for the others.
OUTCOMES = {DIVERGED: "diverged", FAILED: "failed"}


class Outcome(NamedTuple):
    """How a training ended. word: as in run.json. code: exit code, 128 + signal where one stopped it."""

    word: str
    code: int


class Parts(NamedTuple):
    """What a trainer is given.

    run: what to train. console: what people read. observers: of its steps. speed: the one of them that counts and times
    the steps. servers: where the variables live.
    """

    run: Run
    console: Console
    observers: List[StepObserver]
    speed: Speed
    servers: ParameterServers


class TrainingSession(object):
    """One training of a run, in a process that does nothing else.

    Args:
        run: its folder is prepared and its manifest is begun.
        console: what TensorFlow says goes to the run's log from here on.
        when_stalled: function(), the last thing that is called before a training that hangs ends the process.
    """

    def __init__(self, run: Run, console: Console, when_stalled: Callable[[], None] = lambda: None):
        self._when_stalled = when_stalled
        self._run = run
        self._console = console
        self._health = Health(stall_secs=run.settings.stall_secs)
        self._began = time.time()
        self._gpu_watch = GpuWatch(device_choice.entries(run.devices), console.log)
        self._speed = Speed(run.batch_size, self._began, self._gpu_watch, self._say_first_step)
        self._stop = StopRequest(console.say_from_signal, lambda number: self._end(STOPPED, 128 + number))

    def train(self) -> Outcome:
        """Trains to the run's last step, or until something ends it.

        Returns:
            Outcome: finished, stopped or stopped early.

        Raises:
            Refused: diverged, or out of disk, memory or devices. Any other exception is a failure. Both are in run.json
                by then. A training that stalls or loses a parameter server ends the process.
        """
        self._health.beat("building")
        self._console.capture(self._run.run_dir.log, debug=self._run.settings.log_level.value == "debug")
        self._stop.install()
        self._console.say("Building the graph; the first step takes much longer than those after it.")
        device_choice.hide_the_rest(self._run.devices)
        if self._run.settings.seed is not None:
            seed.choose_deterministic_kernels()
        try:
            with Watchdog(self._run.settings.stall_secs, self._stalled) as watchdog:
                self._with_servers(watchdog)
        except Exception as error:
            self._failed(error)
        return self._ended()

    def _with_servers(self, watchdog):
        # They import TensorFlow while this process does.
        with ParameterServers(self._run.settings.ps_tasks, self._lost) as servers:
            from tfod_train.process.tensorflow_log import import_tensorflow

            import_tensorflow()
            device_choice.check_session_devices(self._run.devices)
            plugins.load(self._run.settings.plugins)
            self._with_trainer(servers, watchdog)

    def _with_trainer(self, servers, watchdog):
        from tfod_train import observers
        from tfod_train.trainers.fast_start import without_garbage_collection

        training = Training(self._run, self._console, self._speed, self._health, self._stop, watchdog.beat)
        train = TRAINERS[self._run.settings.trainer.value].load()
        with without_garbage_collection(), self._gpu_watch:
            train(Parts(self._run, self._console, observers.make(training), self._speed, servers))
        divergence.refuse_broken_weights(self._run.run_dir.path, self._console.say)

    def _ended(self):
        early = None
        if not self._stop.requested and self._speed.step < self._run.total_steps:
            early = stop_request.reason(self._run.run_dir) or "an observer of its steps asked for it"
        word = STOPPED if self._stop.requested else STOPPED_EARLY if early else FINISHED
        self._end(word, self._code())
        self._stop.steps_are_over()
        if early:
            self._console.say(f"Stopped early: {early}. The same command resumes from here.")
        rate = self._speed.images_per_sec()
        speed = f"; {rate:.1f} images/s" if rate else ""
        newest = self._run.run_dir.newest_checkpoint()
        self._console.say(
            f"{'Trained' if word == FINISHED else 'Stopped'} at step {self._speed.step} after "
            f"{duration(time.time() - self._began)} (first step after {duration(self._speed.first_step_secs)}){speed}; "
            f"loss {self._speed.last_loss:.3f}; saved {newest[0] if newest else 'not there'}."
        )
        # Asked now: a signal may have come while run.json was written.
        return Outcome(word, self._code())

    def _code(self):
        return self._stop.exit_code if self._stop.requested else 0

    def _failed(self, error):
        """Writes down how an error ended the training, and raises it in words for people where we know them."""
        refused = error if isinstance(error, Refused) else self._in_words(error)
        code = refused.code if refused else FAILED
        if code == PREFLIGHT_FAILED:
            self._run.run_dir.remove_half_written()
        self._end(OUTCOMES.get(code, "refused"), code)
        if refused is None or refused is error:
            raise error
        self._console.log_traceback()
        raise refused from error

    def _in_words(self, error):
        """The Refused for an error of TensorFlow's or the system's; None for one that nobody foresaw."""
        if resource_errors.disk_is_full(error):
            return resource_errors.full_disk(error, self._run.run_dir.path)
        if resource_errors.memory_is_full(error):
            return resource_errors.full_memory(error, self._run.batch_size, self._run.devices)
        if any(words in str(error) for words in ("Nan in summary histogram", "LossTensor is inf or nan")):
            return divergence.refused("a weight or the loss is not finite", self._run.run_dir.path, self._console.say)
        return resource_errors.gpu_failed(error) or self._checkpoint_went_away()

    def _checkpoint_went_away(self):
        """The Refused where a run that is still going on deleted what this one begins from; None elsewhere."""
        checkpoint = self._run.config.train_config.fine_tune_checkpoint
        problem = integrity.problem(checkpoint) if checkpoint and not self._speed.step else None
        if problem is None:
            return None
        return Refused(
            f"fine_tune_checkpoint {checkpoint} went away while the training started: {problem}.",
            "Run the same command again; where the run it belongs to still goes on, copy the checkpoint first.",
            PREFLIGHT_FAILED,
        )

    def _say_first_step(self, secs):
        self._console.say(f"First step after {duration(secs)}.")

    def _stalled(self, silent_secs):
        self._health.beat("stalled")
        last = self._speed.step if self._speed.step else "none"
        self._console.error(
            f"No step for {duration(silent_secs)}; the last one was {last}.\n"
            f"The stacks of all threads are in {self._run.run_dir.log}; the same command resumes from the newest "
            "checkpoint, and STALL_SECS waits longer."
        )
        self._console.log_stacks()
        self._end("stalled", STALLED)
        self._when_stalled()

    def _lost(self, what):
        """A parameter server ended: a step that waits for it waits for ever."""
        self._end("failed", FAILED)
        self._console.error(f"{what}\nStart the training again: it resumes from the newest checkpoint.")
        os._exit(FAILED)

    def _end(self, word: str, code: int) -> None:
        try:
            manifest.finish(self._run.run_dir, word, self._speed.step, code)
        except OSError:
            pass  # the disk may be full or gone, which is said elsewhere; how it ended, the exit code says too
