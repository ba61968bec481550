"""`make smoke`: both trainers on mini-pets, on all GPUs or two virtual CPU devices, held to what they promise.

    python3 -m benchmarks.smoke [--steps 300] [--floor 0.5] [--out runs/smoke]

For each trainer: two thirds of the steps, then the rest by resuming, then an evaluation; with more than one GPU
also a short training on one. It fails unless every GPU was used (as nvidia-smi sees it from outside, and as the
training itself tells), images/s with all GPUs beat one, COCO mAP@.50 passed the floor, and the second training went
on from the first's checkpoint. What the machine cannot show is said to be skipped. Results: OUT/smoke.json and,
for people, OUT/smoke.md.

It starts what `make train` starts, in Docker or in the virtual environment (RUN_IN), and needs nothing but Python.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from typing import NamedTuple, Optional

from common import files
from launcher import host

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRAINERS = ("mirrored", "clone")
CPU_DEVICES = 2
IMAGES_PER_DEVICE = {"cpu": 8, "gpu": 32}
MAP50 = "DetectionBoxes_Precision/mAP@.50IOU"
# Percent of a GPU's time in which a kernel ran. The small model is far from filling a GPU; an idle one shows 0.
USED_PERCENT = 5
LEG_SECS = 1800
# Settings of the host, which say where and how things run, and not what is trained.
OF_THE_HOST = ("RUN_IN", "BASE_IMAGE", "DOCKER_RUNTIME", "MEMLOCK", "READ_ONLY")


class Check(NamedTuple):
    """`passed` is None where this machine cannot show it."""

    trainer: str
    what: str
    passed: Optional[bool]
    found: str


class Leg(NamedTuple):
    """A finished training: exit code, seconds, the run's folder, and the highest use of each GPU in percent."""

    code: int
    seconds: float
    folder: str
    used: dict


class GpuWatch(threading.Thread):
    """Asks nvidia-smi once a second how busy each GPU is, and keeps the highest answer."""

    def __init__(self):
        super().__init__(daemon=True)
        self.highest = {}
        self._ended = threading.Event()

    def run(self):
        query = ["nvidia-smi", "--query-gpu=uuid,utilization.gpu", "--format=csv,noheader,nounits"]
        while not self._ended.is_set():
            for uuid, percent in parse_use(host.ask(query, host.ENGINE_SECS).out):
                self.highest[uuid] = max(percent, self.highest.get(uuid, 0))
            self._ended.wait(1)

    def stop(self):
        self._ended.set()
        self.join()
        return self.highest


def parse_use(text):
    """[(uuid, percent)] of nvidia-smi's answer; a GPU that does not tell (MIG) counts as 0."""
    found = []
    for line in text.splitlines():
        uuid, _, percent = line.partition(",")
        found.append((uuid.strip(), int(percent) if percent.strip().isdigit() else 0))
    return found


def names_of_settings():
    """The variables of .env.example, all of which are set or emptied, so that no .env changes what is tested."""
    with open(os.path.join(ROOT, ".env.example")) as source:
        return re.findall(r"^#([A-Z][A-Z_]+)=", source.read(), flags=re.MULTILINE)


def train(folder, log, kind, **settings):
    """Runs `make train`'s command with these settings and its own log; returns Leg."""
    environ = dict(os.environ)
    environ.update({name: "" for name in names_of_settings() if name not in OF_THE_HOST})
    environ.update(settings, RUN_DIR=folder, DEVICE=kind, DATASET="mini-pets")
    print(f"  {os.path.basename(log)} ...", end=" ", flush=True)
    watch = GpuWatch() if kind == "gpu" else None
    began = time.time()
    if watch:
        watch.start()
    try:
        with open(log, "wb") as out:
            code = subprocess.call(
                [sys.executable, "-m", "launcher", "train"],
                cwd=ROOT,
                env=environ,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=LEG_SECS,
            )
    except subprocess.TimeoutExpired:
        code = None
    finally:
        used = watch.stop() if watch else {}
    leg = Leg(code, time.time() - began, os.path.join(ROOT, folder), used)
    print(f"exit code {leg.code}, {leg.seconds:.0f} s", flush=True)
    return leg


def read(*path):
    """The JSON of a file, {} where there is none."""
    try:
        with open(os.path.join(*path)) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def images_per_sec(folder):
    """The median of metrics.jsonl, which one slow moment does not change; None without a number in it."""
    try:
        with open(os.path.join(folder, "metrics.jsonl")) as file:
            found = [json.loads(line)["images_per_sec"] for line in file]
    except FileNotFoundError:
        return None
    found = [number for number in found if number]
    return round(statistics.median(found), 2) if found else None


def gpus_in_metrics(folder):
    """The highest percent that metrics.jsonl has of each GPU, [] where it has none."""
    try:
        with open(os.path.join(folder, "metrics.jsonl")) as file:
            found = [json.loads(line).get("gpus", []) for line in file]
    except FileNotFoundError:
        return []
    found = [[gpu["percent"] for gpu in gpus] for gpus in found if gpus]
    return [max((percent for percent in of_gpu if percent is not None), default=None) for of_gpu in zip(*found)]


def judge(trainer, count, kind, steps, first, second, one, floor):
    """The Checks of a trainer.

    Args:
      count: devices. first, second: Legs, of which the second resumes. one: Leg on one GPU, None where not run.
    """
    run = read(second.folder, "run.json")
    evaluations = read(second.folder, "eval", "metrics.json").get("evaluations", [])
    last = evaluations[-1] if evaluations else {}
    reached = last.get("metrics", {}).get(MAP50)
    middle = first_steps(steps)
    checks = [
        Check(
            trainer,
            "trains",
            (first.code, second.code, run.get("step")) == (0, 0, steps),
            "exit codes {} and {}, step {} of {}".format(first.code, second.code, run.get("step"), steps),
        ),
        Check(
            trainer,
            "uses the devices asked for",
            run.get("devices", {}).get("count") == count,
            "{} of {}".format(run.get("devices", {}).get("count"), count),
        ),
        Check(
            trainer,
            "resumes",
            run.get("start_step") == middle,
            "from step {}, saved at {}".format(run.get("start_step"), middle),
        ),
        Check(
            trainer,
            "evaluates every image",
            bool(last) and last["images"] == last["images_expected"] > 0,
            "{} of {} at step {}".format(last.get("images"), last.get("images_expected"), last.get("step")),
        ),
        Check(
            trainer,
            f"reaches mAP@.50 {floor}",
            reached is not None and reached >= floor,
            "none" if reached is None else f"{reached:.3f}",
        ),
    ]
    if kind == "cpu":
        skipped = "skipped: no GPU"
        return checks + [
            Check(trainer, "uses every GPU", None, skipped),
            Check(trainer, "tells the use of every GPU", None, skipped),
            Check(trainer, "is faster on all GPUs than on one", None, skipped),
        ]
    seen = sorted(set(first.used) | set(second.used))
    used = [max(leg.used.get(gpu, 0) for leg in (first, second)) for gpu in seen]
    checks.append(
        Check(
            trainer,
            "uses every GPU",
            len(used) == count and min(used) >= USED_PERCENT,
            "at most {} % busy".format(", ".join(map(str, used))),
        )
    )
    said = gpus_in_metrics(second.folder)
    checks.append(
        Check(
            trainer,
            "tells the use of every GPU",
            len(said) == count and None not in said,
            "{} % in metrics.jsonl".format(", ".join(map(str, said)) or "none"),
        )
    )
    return checks + [faster(trainer, second, one)]


def faster(trainer, on_all, on_one):
    what = "is faster on all GPUs than on one"
    if on_one is None:
        return Check(trainer, what, None, "skipped: one GPU")
    every, one = images_per_sec(on_all.folder), images_per_sec(on_one.folder)
    return Check(trainer, what, None not in (every, one) and every > one, f"{every} images/s, on one {one}")


def first_steps(steps):
    """Steps of the first training; the second does the rest."""
    return steps * 2 // 3


def smoke(trainer, kind, count, steps, floor, out):
    """Trains with one trainer; returns (checks, numbers)."""
    folder = os.path.join(out, trainer)
    common = {"TRAINER": trainer, "BATCH_SIZE_PER_GPU": str(IMAGES_PER_DEVICE[kind]), "NUM_GPUS": str(count)}
    log = os.path.join(ROOT, folder)
    first = train(folder, log + "-1.log", kind, NUM_STEPS=str(first_steps(steps)), EVAL_AT_END="0", **common)
    second = train(
        folder, log + "-2-resumed.log", kind, NUM_STEPS=str(steps), EVAL_AT_END="1", RESUME="require", **common
    )
    one = None
    if kind == "gpu" and count > 1:
        one = train(
            folder + "-one",
            log + "-one.log",
            kind,
            NUM_STEPS=str(first_steps(steps)),
            EVAL_AT_END="0",
            **dict(common, NUM_GPUS="1"),
        )
    numbers = {
        "images_per_sec": images_per_sec(second.folder),
        "images_per_sec_on_one": images_per_sec(one.folder) if one else None,
        "seconds": round(sum(leg.seconds for leg in (first, second, one) if leg), 1),
        "gpu_percent": second.used,
    }
    return judge(trainer, count, kind, steps, first, second, one, floor), numbers


def markdown(result):
    """The short summary for people."""
    verdict = "passed" if result["passed"] else "FAILED"
    lines = [
        f"### Smoke test: {verdict}",
        "",
        f"{result['steps']} steps on {result['devices']}, {result['seconds']:.0f} s, {result['ended']}",
        "",
        "| trainer | check | | found |",
        "|---|---|---|---|",
    ]
    words = {True: "passed", False: "**FAILED**", None: "skipped"}
    lines += [
        "| {0[trainer]} | {0[what]} | {1} | {0[found]} |".format(check, words[check["passed"]])
        for check in result["checks"]
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300, help="steps of each trainer (default: 300)")
    parser.add_argument("--floor", type=float, default=0.5, help="least COCO mAP@.50 (default: 0.5)")
    parser.add_argument("--out", default="runs/smoke", help="a folder in runs/, emptied first")
    arguments = parser.parse_args()
    out = os.path.relpath(os.path.join(ROOT, arguments.out), ROOT)
    if arguments.steps < 3 or not out.startswith("runs" + os.sep):
        parser.error("--steps of at least 3, --out inside of runs/")
    gpus = host.count_gpus() if os.environ.get("DEVICE") != "cpu" else 0
    if os.environ.get("DEVICE") == "gpu" and not gpus:
        sys.exit("DEVICE=gpu, but nvidia-smi lists no GPU.\nCheck the driver, or set DEVICE=cpu.")
    kind, count = ("gpu", gpus) if gpus else ("cpu", CPU_DEVICES)
    devices = "{} {}{}".format(count, "GPU" if gpus else "virtual CPU device", "" if count == 1 else "s")
    print(f"Smoke test on {devices}: {arguments.steps} steps with each trainer.", flush=True)
    shutil.rmtree(os.path.join(ROOT, out), ignore_errors=True)
    os.makedirs(os.path.join(ROOT, out))
    began, checks, numbers = time.time(), [], {}
    for trainer in TRAINERS:
        found, numbers[trainer] = smoke(trainer, kind, count, arguments.steps, arguments.floor, out)
        checks += found
    result = {
        "passed": all(check.passed is not False for check in checks),
        "devices": devices,
        "kind": kind,
        "count": count,
        "steps": arguments.steps,
        "seconds": round(time.time() - began, 1),
        "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "trainers": numbers,
        "checks": [check._asdict() for check in checks],
    }
    files.write_text(os.path.join(ROOT, out, "smoke.json"), json.dumps(result, indent=1) + "\n")
    files.write_text(os.path.join(ROOT, out, "smoke.md"), markdown(result))
    print(markdown(result) + f"Written: {out}/smoke.json, {out}/smoke.md; logs beside them.")
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
