"""RUN_DIR: every path and every lock of a run's folder; is there a run to resume, and may we write here?"""

import errno
import fcntl
import os
import re
import shutil
import time
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from google.protobuf import text_format

from common import files
from common.errors import PREFLIGHT_FAILED, Refused
from common.json_files import read_json
from tfod_train.checkpoints import find, integrity, retention
from tfod_train.config import dataset, pipeline, pretrained
from tfod_train.run import resume_check
from tfod_train.run.evaluations import EvaluationDir
from tfod_train.settings import Settings

CONFIG = pretrained.CONFIG
LOG = "train.log"
METRICS = "metrics.jsonl"
MANIFEST = pretrained.MANIFEST
REPORT = "report.html"
STOP_REQUEST = "stop_early.json"
LOCK = ".lock"
TORN = "torn-"
# The event file with the graph, the log and the first metrics: 15 MB for the small models in configs/. What the
# checkpoints need is checked when the graph is built (tfod_train/hooks/checkpoint.py).
ROOM_TO_START_BYTES = 64 * 2**20
# The graph beside the variables of a checkpoint; 11 MB for the largest models in configs/.
GRAPH_BYTES = 16 * 2**20
ELSEWHERE = "Set RUN_DIR to another folder, or delete this one."
_LOCKS = []


class RunDir(object):
    """A run's folder. Making one touches nothing; it may be given wherever a path is expected."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)

    @classmethod
    def of(cls, settings: Settings) -> "RunDir":
        """RUN_DIR, else `runs/<dataset>-<trainer>`. Raises Refused where no dataset is meant."""
        return cls(settings.run_dir or os.path.join("runs", f"{dataset.locate(settings)[0]}-{settings.trainer.value}"))

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def file(self, name: str) -> str:
        """The path of one of the names above."""
        return os.path.join(self.path, name)

    @property
    def config(self) -> str:
        """The effective pipeline config."""
        return self.file(CONFIG)

    @property
    def log(self) -> str:
        """TensorFlow's own log of the trainings."""
        return self.file(LOG)

    @property
    def metrics(self) -> str:
        """A line of JSON for each step that was logged."""
        return self.file(METRICS)

    @property
    def manifest(self) -> str:
        """What the run was made of and how it ended."""
        return self.file(MANIFEST)

    @property
    def report(self) -> str:
        """The run on one page."""
        return self.file(REPORT)

    @property
    def stop_request(self) -> str:
        """There while an evaluation asks the training to stop early."""
        return self.file(STOP_REQUEST)

    @property
    def evaluations(self) -> EvaluationDir:
        """What the evaluations leave in it."""
        return EvaluationDir(self.file(EvaluationDir.NAME))

    def read_manifest(self) -> Dict[str, Any]:
        """run.json; {} where there is none. Raises Refused where it is damaged."""
        return read_json(self.manifest) or {}

    def read_config(self) -> Any:
        """The effective config (TrainEvalPipelineConfig). Raises Refused."""
        return pipeline.parse(self.config)

    def config_for(self, settings: Settings) -> Any:
        """The same with the moving averages that the settings ask for, where they ask. Raises Refused."""
        config = self.read_config()
        if settings.use_moving_average is not None:
            config.eval_config.use_moving_averages = settings.use_moving_average
        return config

    def write_config(self, config: Any, before: Callable[[], None] = lambda: None) -> None:
        """Writes the effective config.

        Args:
            config: TrainEvalPipelineConfig.
            before: function(), called when it is on the disk and has not yet its name.
        """
        files.write(self.config, text_format.MessageToString(config).encode("utf-8"), before=before)

    def holds_a_config(self) -> bool:
        """True where an effective config is there: this is the folder of a run."""
        return os.path.isfile(self.config)

    def checkpoints(self) -> List[Tuple[str, int]]:
        """(path, step) of each complete checkpoint, oldest first."""
        return find.checkpoints(self.path)

    def newest_checkpoint(self) -> Optional[Tuple[str, int]]:
        """(path, step) of the newest checkpoint that can be restored; None for none."""
        return find.newest_checkpoint(self.path)

    def torn_checkpoints(self) -> List[str]:
        """A sentence for each newer checkpoint that cannot be restored, oldest first."""
        return find.torn_checkpoints(self.path)

    def is_training(self) -> bool:
        """True while a training holds the lock."""
        try:
            with open(self.file(LOCK)) as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
        except FileNotFoundError:
            return False
        except OSError as error:
            return error.errno in (errno.EWOULDBLOCK, errno.EACCES)  # else it cannot be locked: nobody knows

    def in_use(self) -> Refused:
        """The Refused for a RUN_DIR in which another training runs."""
        return Refused(
            f"Another training is running in {self}.",
            "Wait for it, stop it, or set RUN_DIR to another folder.",
            PREFLIGHT_FAILED,
        )

    def free_bytes(self) -> int:
        """What is free on its disk."""
        return shutil.disk_usage(self.path).free

    def check_free_space(self, needed_bytes: int) -> None:
        """Refuses to start where the checkpoints to keep would not fit."""
        free = self.free_bytes()
        if free < needed_bytes:
            raise Refused(
                f"{self} has {free // 2**20} MB free; this run needs about {needed_bytes // 2**20} MB.",
                "Free some space, set RUN_DIR to another disk, or lower KEEP_CHECKPOINTS.",
                PREFLIGHT_FAILED,
            )

    def check(self, config: Any, settings: Settings) -> int:
        """The step a run here would resume from; changes nothing. Raises Refused, as `prepare` does."""
        newest = self.newest_checkpoint()
        if not _is_our_manifest(self.manifest):
            raise Refused(f"{self} holds a run.json of something else.", ELSEWHERE)
        self._refuse_files_of_others()
        if not self._is_ours() and _holds_a_checkpoint(self.path):
            raise Refused(f"{self} holds checkpoints of something else (no run.json beside them).", ELSEWHERE)
        if newest and settings.resume.value == "never":
            raise Refused(f"{self} holds a run at step {newest[1]}, and RESUME=never.", ELSEWHERE)
        if not newest and settings.resume.value == "require":
            raise Refused(
                f"RESUME=require, but {self} holds no checkpoint.",
                "Set RUN_DIR to the run to resume, or leave RESUME out.",
            )
        if not newest:
            return 0
        self._check_same_model(newest[0], config)
        return newest[1]

    def _refuse_files_of_others(self):
        """Without a run.json, what has the name of a run's file is somebody else's, and would be written over."""
        if os.path.lexists(self.manifest):
            return
        names = (CONFIG, LOG, METRICS, REPORT, EvaluationDir.NAME, "best", "export")
        there = [name for name in names if os.path.lexists(self.file(name))]
        if there:
            raise Refused(
                f"{self} holds {', '.join(there)} of something else (no run.json beside).",
                "Set RUN_DIR to another folder.",
            )

    def _check_same_model(self, checkpoint, config):
        before = self.read_config()
        differences = pipeline.differing_fields(before.model, config.model, "model.")
        if differences:
            raise Refused(f"{self} holds a run of another model: {', '.join(differences)}.", ELSEWHERE)
        names = [entry.name for entry in integrity.read_index(checkpoint).entries]
        missing = resume_check.fields(before, config, names)
        if missing:
            raise Refused(
                f"{self} holds a run without what this config trains: {', '.join(missing)}.",
                f"Set that back, or begin a new run from its weights: FINE_TUNE_CHECKPOINT={checkpoint} and "
                "another RUN_DIR.",
            )

    def check_config_file(self, path: str) -> None:
        """Raises Refused where a config is the run's own file and somebody changed it: it is written anew."""
        if not (os.path.exists(self.config) and os.path.samefile(path, self.config)):
            return
        if files.unfinished(self.config):
            return  # the training before was killed between its run.json and this file: nobody changed it
        there, written = self.read_config(), pipeline.from_lines(self.read_manifest().get("config"))
        with open(self.config, encoding="utf-8") as file:
            changed = file.read() != text_format.MessageToString(there) or written is None
        for config in (there, written):
            if config is not None:
                config.train_config.ClearField("fine_tune_checkpoint")  # a resumed run's run.json has none
        if changed or there != written:
            raise Refused(
                f"PIPELINE_CONFIG={path} is the run's own file, which a training writes anew, and it was changed.",
                "Copy it to another name, and set PIPELINE_CONFIG to that.",
            )

    def prepare(self, config: Any, settings: Settings, say: Callable[[str], None] = lambda sentence: None) -> int:
        """Makes the folder this process's.

        Checks that what it holds can be resumed, locks it, and clears what a crash left.

        Args:
            config: the effective TrainEvalPipelineConfig.
            settings: RESUME and KEEP_CHECKPOINTS count.
            say: function(sentence) for what people must know of what was cleared.

        Returns:
            the step that the run resumes from; 0 for a new run.

        Raises:
            Refused: it holds another model, a foreign checkpoint, another training is in it, or RESUME forbids.
        """
        self.check(config, settings)
        self._create_and_lock(say)
        if self._is_ours():
            self._say_how_the_last_one_ended(say)
            self._set_torn_checkpoints_aside(say)
            self.remove_half_written()
            names = [os.path.basename(prefix) for prefix, _ in self.checkpoints()]
            retention.put_in_order(self.path, names, settings.keep_checkpoints)
        self.check_free_space(ROOM_TO_START_BYTES)
        newest = self.newest_checkpoint()
        return newest[1] if newest else 0

    def remove_half_written(self) -> None:
        """Removes what a save that was killed or found no space left behind: parts that belong to no index."""
        files.remove_temporaries(self.path)
        with_index = {f"model.ckpt-{step}" for step in integrity.steps(self.path)}
        for name in os.listdir(self.path):
            path = self.file(name)
            part = re.match(r"(model\.ckpt-\d+)(\.meta|\.data-\d+-of-\d+)$", name)
            unfinished = re.match(r"(model\.ckpt-\d+_temp_|model\.ckpt-\d+\.\w+\.tmp|checkpoint\.tmp)\w+(\.|$)", name)
            if unfinished or (part and part.group(1) not in with_index):
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def _is_ours(self):
        return os.path.exists(self.manifest) and os.path.exists(self.config)

    def _say_how_the_last_one_ended(self, say):
        if self.read_manifest().get("outcome") == "running":
            say(
                "The last training here ended without a word: it was killed (exit code 137 where memory ran out), or "
                "the machine went down."
            )

    def _set_torn_checkpoints_aside(self, say):
        """Renames what cannot be restored, so that TensorFlow and people find the newest that can."""
        newest = self.newest_checkpoint()
        for step in integrity.steps(self.path):
            prefix = find.prefix(self.path, step)
            why = integrity.problem(prefix, values=newest is None or step > newest[1])
            if why is None:
                continue
            for path in integrity.files_of(prefix):
                os.replace(path, self.file(TORN + os.path.basename(path)))
            before = "there is none before it" if newest is None else "newer ones are whole"
            if newest and newest[1] < step:
                before = "the one before it is taken"
            aside = self.file(TORN + os.path.basename(prefix))
            say(f"Checkpoint {prefix} cannot be read: {why}. It is kept as {aside}*; {before}.")

    def _create_and_lock(self, say):
        try:
            os.makedirs(self.path, exist_ok=True)
            lock = open(self.file(LOCK), "w")
        except (FileExistsError, NotADirectoryError) as error:
            raise Refused(f"RUN_DIR={self} is not a folder.", "Choose another name.", PREFLIGHT_FAILED) from error
        except OSError as error:
            raise Refused(
                f"RUN_DIR={self} cannot be written: {error.strerror}.",
                "Choose a folder that belongs to you, or change its owner.",
                PREFLIGHT_FAILED,
            ) from error
        try:
            if not any(_try_lock(lock) for _ in range(3)):
                raise self.in_use()
        except OSError as error:
            # Some network file systems have no locks.
            say(f"{self} cannot be locked ({error.strerror}): nothing will stop a second training in it.")
        _LOCKS.append(lock)  # held until the process ends, however it ends


def _is_our_manifest(path):
    """True where the file is ours or is not there."""
    try:
        manifest = read_json(path)
    except (Refused, OSError):
        return not os.path.isfile(path)
    return manifest is None or (isinstance(manifest, dict) and "settings" in manifest)


def _holds_a_checkpoint(folder):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return any(name == retention.STATE or name.endswith(".index") for name in names)


def _try_lock(lock):
    """True when it is ours, False when it is another's; raises OSError where the file system has no locks."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        time.sleep(0.2)  # an evaluation that asks `is_training` holds it for microseconds
        return False
