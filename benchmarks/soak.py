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
from typing import NamedTuple

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
    def share(self):
        return self.end / self.settled - 1

    def __str__(self):
        return (
            f"{self.settled / 1e6:.1f} MB after {SETTLED} steps, {self.end / 1e6:.1f} MB at the end ({100 * self.share:+.1f} "
            f"%), at most {self.peak / 1e6:.1f} MB in between"
        )


def growth(samples):
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


def course(samples, parts=10):
    """Median bytes of each of so many equal parts of the steps after SETTLED: what levels off is no leak."""
    last = samples[-1][0]
    bounds = [SETTLED + (last - SETTLED) * part / float(parts) for part in range(parts + 1)]
    found = [[size for step, size in samples if low <= step < high] for low, high in zip(bounds, bounds[1:])]
    return [statistics.median(sizes) for sizes in found if sizes]


def resident(process):
    """Bytes of a process and of all that it started."""
    total = 0
    for one in [process] + process.children(recursive=True):
        try:
            total += one.memory_info().rss
        except psutil.Error:
            pass  # it has just ended
    return total


def by_step(sizes, lines):
    """(step, bytes) of (time, bytes) samples, those taken between the first and the last line of metrics.jsonl."""
    times, steps = [line["time"] for line in lines], [line["step"] for line in lines]
    return [(float(np.interp(at, times, steps)), size) for at, size in sizes if times[0] <= at <= times[-1]]


def train(trainer, steps, folder, **settings):
    """Trains; returns (step, bytes) samples, from the first step to the last.

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
    log, sizes = folder + ".console", []
    with open(log, "w") as out:
        process = psutil.Popen(
            [sys.executable, "-m", "tests.end_to_end.scenarios.tiny_ssd", "train"],
            cwd=ROOT,
            env=environ,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
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
    if process.returncode:
        with open(log) as console:
            raise RuntimeError("".join(console.readlines()[-10:]))
    with open(os.path.join(folder, "metrics.jsonl")) as metrics:
        return by_step(sizes, [json.loads(line) for line in metrics])


def main():
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
            print("  in between: %s MB" % " ".join(f"{size / 1e6:.0f}" for size in course(samples)), flush=True)
            grown += [trainer] if found.share > LIMIT else []
    except (RuntimeError, ValueError) as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(work)
    if grown:
        sys.exit(f"Memory grew by more than {100 * LIMIT:.0f} %: {', '.join(grown)}.")


if __name__ == "__main__":
    main()
