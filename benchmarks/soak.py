"""Does a training's memory grow? Many steps of the tests' tiny model on mini-pets, watched from outside.

    .venv/bin/python -m benchmarks.soak [--steps 30000] [--trainer mirrored] [--trainer clone]

Prints, for each trainer, the resident memory of all its processes when SETTLED steps are done, and at the end, and
fails where that grew by more than LIMIT. The model is small so that steps are many: what leaks leaks by step, by
checkpoint and by image, whatever the model. Checkpoints are saved every 500 steps.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import psutil

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TINY = os.path.join(ROOT, "tests", "end_to_end", "scenarios", "tiny_ssd.config")
TRAINERS = ("mirrored", "clone")
SETTLED = 1000  # steps after which memory should not grow any more
LIMIT = 0.05
SAMPLE_SECS = 0.5


class Growth(NamedTuple):
    """Resident memory in bytes: the median when settled, the median at the end, and the peak of all since."""

    settled: float
    end: float
    peak: float

    @property
    def share(self) -> float:
        """By how much it grew, 0.05 for 5 %."""
        return self.end / self.settled - 1

    def __str__(self) -> str:
        return (
            f"{self.settled / 1e6:.1f} MB after {SETTLED} steps, {self.end / 1e6:.1f} MB at the end "
            f"({100 * self.share:+.1f} %), at most {self.peak / 1e6:.1f} MB in between"
        )


def growth(samples: Sequence[Tuple[float, float]]) -> Growth:
    """The Growth of (step, bytes) samples, in order.

    Medians, over as many steps as SETTLED or a quarter of what there is: memory moves by some per cent all the time.

    Raises:
        ValueError: there are no samples at one of the ends.
    """
    last = samples[-1][0] if samples else 0
    width = min(SETTLED, (last - SETTLED) / 4.0)
    since = [(step, size) for step, size in samples if step >= SETTLED]
    settled = [size for step, size in since if step <= SETTLED + width]
    end = [size for step, size in since if step >= last - width]
    if width <= 0 or not settled or not end:
        raise ValueError(f"{last} steps are too few: memory is compared from step {SETTLED} on")
    return Growth(statistics.median(settled), statistics.median(end), max(size for _, size in since))


def course(samples: Sequence[Tuple[float, float]], parts: int = 10) -> List[float]:
    """Median bytes of each of so many equal parts of the steps after SETTLED: what levels off is no leak."""
    last = samples[-1][0]
    bounds = [SETTLED + (last - SETTLED) * part / float(parts) for part in range(parts + 1)]
    found = [[size for step, size in samples if low <= step < high] for low, high in zip(bounds, bounds[1:])]
    return [statistics.median(sizes) for sizes in found if sizes]


def resident(process: psutil.Process) -> int:
    """Bytes of a process and of all that it started."""
    total = 0
    for one in [process] + process.children(recursive=True):
        try:
            total += one.memory_info().rss
        except psutil.Error:
            pass  # it has just ended
    return total


def by_step(sizes: Sequence[Tuple[float, float]], lines: Sequence[Dict[str, Any]]) -> List[Tuple[float, float]]:
    """(step, bytes) of (time, bytes) samples, those taken between the first and the last line of metrics.jsonl."""
    times, steps = [line["time"] for line in lines], [line["step"] for line in lines]
    return [(float(np.interp(at, times, steps)), size) for at, size in sizes if times[0] <= at <= times[-1]]


def train(trainer: str, steps: int, folder: str, **settings: str) -> List[Tuple[float, float]]:
    """Trains, and watches its memory.

    Args:
        trainer: one of TRAINERS.
        steps: how many.
        folder: RUN_DIR; its console goes to a file beside it.
        settings: what is set otherwise than below.

    Returns:
        (step, bytes) samples, from the first step to the last.

    Raises:
        RuntimeError: the training failed; holds the last lines of its console.
    """
    environ = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "PYTHONPATH")}
    environ.update(
        {
            "DEVICE": "cpu",
            "DATASET": "mini-pets",
            "PIPELINE_CONFIG": TINY,
            "TRAINER": trainer,
            "NUM_STEPS": str(steps),
            "RUN_DIR": folder,
            "EVAL_AT_END": "0",
            "CHECKPOINT_EVERY_STEPS": "500",
        }
    )
    environ.update(settings)
    log = folder + ".console"
    code, sizes = _watched([sys.executable, "-m", "tests.end_to_end.scenarios.tiny_ssd", "train"], environ, log)
    if code:
        with open(log) as console:
            raise RuntimeError("".join(console.readlines()[-10:]))
    with open(os.path.join(folder, "metrics.jsonl")) as metrics:
        return by_step(sizes, [json.loads(line) for line in metrics])


def _watched(command, environ, log):
    """Runs a command, its output to the file log; returns (exit code, (time, bytes) samples of its memory)."""
    sizes = []
    with open(log, "w") as out:
        process = psutil.Popen(command, cwd=ROOT, env=environ, stdout=out, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                sizes.append((time.time(), resident(process)))
                time.sleep(SAMPLE_SECS)
        except psutil.NoSuchProcess:
            pass
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    return process.returncode, sizes


def main() -> None:
    """Trains with each trainer, prints what its memory did, and exits with a sentence where it grew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30000, help="steps of each trainer (default: 30000)")
    parser.add_argument("--trainer", choices=TRAINERS, action="append", help="default: both, in turn")
    arguments = parser.parse_args()
    work, grown = tempfile.mkdtemp(prefix="soak-"), []
    try:
        for trainer in arguments.trainer or TRAINERS:
            began = time.time()
            samples = train(trainer, arguments.steps, os.path.join(work, trainer))
            found = growth(samples)
            print(f"{trainer}, {arguments.steps} steps in {time.time() - began:.0f} s: {found}", flush=True)
            sizes = " ".join(f"{size / 1e6:.0f}" for size in course(samples))
            print(f"  in between: {sizes} MB", flush=True)
            grown += [trainer] if found.share > LIMIT else []
    except (RuntimeError, ValueError) as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(work)
    if grown:
        sys.exit(f"Memory grew by more than {100 * LIMIT:.0f} %: {', '.join(grown)}.")


if __name__ == "__main__":
    main()
