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
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from common import files
from common.text import counted
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


# What only a machine with GPUs can show.
USES, TELLS, FASTER = "uses every GPU", "tells the use of every GPU", "is faster on all GPUs than on one"


class Plan(NamedTuple):
    """What each trainer is to do: `kind` is "cpu" or "gpu", `devices` how many, `floor` the least mAP@.50."""

    kind: str
    devices: int
    steps: int
    floor: float


class Check(NamedTuple):
    """`passed` is None where this machine cannot show it."""

    trainer: str
    what: str
    passed: Optional[bool]
    found: str


class Leg(NamedTuple):
    """A training: exit code (None: it took too long), seconds, the run's folder, the highest percent of each GPU."""

    code: Optional[int]
    seconds: float
    folder: str
    used: Dict[str, int]


class Legs(NamedTuple):
    """The trainings of a trainer: the second resumes the first; `one` is on one GPU, None where that was not run."""

    first: Leg
    second: Leg
    one: Optional[Leg]


class GpuWatch(threading.Thread):
    """Asks nvidia-smi once a second how busy each GPU is, and keeps the highest answer."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.highest: Dict[str, int] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        """What the thread does until `stop`."""
        query = ["nvidia-smi", "--query-gpu=uuid,utilization.gpu", "--format=csv,noheader,nounits"]
        while not self._ended.is_set():
            for uuid, percent in parse_use(host.ask(query, host.ENGINE_SECS).out):
                self.highest[uuid] = max(percent, self.highest.get(uuid, 0))
            self._ended.wait(1)

    def stop(self) -> Dict[str, int]:
        """Ends it; returns the highest percent of each GPU, by its UUID."""
        self._ended.set()
        self.join()
        return self.highest


def parse_use(text: str) -> List[Tuple[str, int]]:
    """[(uuid, percent)] of nvidia-smi's answer; a GPU that does not tell (MIG) counts as 0."""
    found = []
    for line in text.splitlines():
        uuid, _, percent = line.partition(",")
        found.append((uuid.strip(), int(percent) if percent.strip().isdigit() else 0))
    return found


def names_of_settings() -> List[str]:
    """The variables of .env.example, all of which are set or emptied, so that no .env changes what is tested."""
    with open(os.path.join(ROOT, ".env.example")) as source:
        return re.findall(r"^#([A-Z][A-Z_]+)=", source.read(), flags=re.MULTILINE)


def train(folder: str, log: str, kind: str, **settings: str) -> Leg:
    """Runs `make train`'s command.

    Args:
        folder: RUN_DIR, relative to the repository.
        log: path of the log.
        kind: DEVICE.
        settings: all the others.
    """
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


def read(*path: str) -> Any:
    """The JSON of a file, {} where there is none."""
    try:
        with open(os.path.join(*path)) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def images_per_sec(folder: str) -> Optional[float]:
    """The median of metrics.jsonl, which one slow moment does not change; None without a number in it."""
    try:
        with open(os.path.join(folder, "metrics.jsonl")) as file:
            found = [json.loads(line)["images_per_sec"] for line in file]
    except FileNotFoundError:
        return None
    found = [number for number in found if number]
    return round(statistics.median(found), 2) if found else None


def gpus_in_metrics(folder: str) -> List[Optional[float]]:
    """The highest percent that metrics.jsonl has of each GPU, [] where it has none."""
    try:
        with open(os.path.join(folder, "metrics.jsonl")) as file:
            found = [json.loads(line).get("gpus", []) for line in file]
    except FileNotFoundError:
        return []
    found = [[gpu["percent"] for gpu in gpus] for gpus in found if gpus]
    return [max((percent for percent in of_gpu if percent is not None), default=None) for of_gpu in zip(*found)]


def judge(trainer: str, plan: Plan, legs: Legs) -> List[Check]:
    """The Checks of a trainer: what its trainings left behind against what was planned."""
    checks = _checks_of_training(trainer, plan, legs)
    if plan.kind == "cpu":
        return checks + [Check(trainer, what, None, "skipped: no GPU") for what in (USES, TELLS, FASTER)]
    return checks + _checks_of_use(trainer, plan, legs) + [faster(trainer, legs.second, legs.one)]


def _checks_of_training(trainer, plan, legs):
    run = read(legs.second.folder, "run.json")
    evaluations = read(legs.second.folder, "eval", "metrics.json").get("evaluations", [])
    last = evaluations[-1] if evaluations else {}
    reached = last.get("metrics", {}).get(MAP50)
    middle = first_steps(plan.steps)
    used, codes = run.get("devices", {}).get("count"), (legs.first.code, legs.second.code)
    images, images_expected = last.get("images"), last.get("images_expected")
    return [
        Check(
            trainer,
            "trains",
            codes == (0, 0) and run.get("step") == plan.steps,
            f"exit codes {codes[0]} and {codes[1]}, step {run.get('step')} of {plan.steps}",
        ),
        Check(trainer, "uses the devices asked for", used == plan.devices, f"{used} of {plan.devices}"),
        Check(
            trainer, "resumes", run.get("start_step") == middle, f"from step {run.get('start_step')}, saved at {middle}"
        ),
        Check(
            trainer,
            "evaluates every image",
            bool(last) and images == images_expected > 0,
            f"{images} of {images_expected} at step {last.get('step')}",
        ),
        Check(
            trainer,
            f"reaches mAP@.50 {plan.floor}",
            reached is not None and reached >= plan.floor,
            "none" if reached is None else f"{reached:.3f}",
        ),
    ]


def _checks_of_use(trainer, plan, legs):
    seen = sorted(set(legs.first.used) | set(legs.second.used))
    used = [max(leg.used.get(gpu, 0) for leg in (legs.first, legs.second)) for gpu in seen]
    written = gpus_in_metrics(legs.second.folder)
    return [
        Check(
            trainer,
            USES,
            len(used) == plan.devices and min(used) >= USED_PERCENT,
            f"at most {', '.join(map(str, used))} % busy",
        ),
        Check(
            trainer,
            TELLS,
            len(written) == plan.devices and None not in written,
            f"{', '.join(map(str, written)) or 'none'} % in metrics.jsonl",
        ),
    ]


def faster(trainer: str, on_all: Leg, on_one: Optional[Leg]) -> Check:
    """The Check that all GPUs together are faster than one."""
    if on_one is None:
        return Check(trainer, FASTER, None, "skipped: one GPU")
    every, one = images_per_sec(on_all.folder), images_per_sec(on_one.folder)
    passed = every is not None and one is not None and every > one
    return Check(trainer, FASTER, passed, f"{every} images/s, on one {one}")


def first_steps(steps: int) -> int:
    """Steps of the first training; the second does the rest."""
    return steps * 2 // 3


def smoke(trainer: str, plan: Plan, out: str) -> Tuple[List[Check], Dict[str, Any]]:
    """Trains with one trainer, with folders and logs in out; returns (checks, numbers)."""
    folder = os.path.join(out, trainer)
    log = os.path.join(ROOT, folder)
    images = str(IMAGES_PER_DEVICE[plan.kind])
    whole = {
        "TRAINER": trainer,
        "BATCH_SIZE_PER_GPU": images,
        "NUM_GPUS": str(plan.devices),
        "NUM_STEPS": str(plan.steps),
        "EVAL_AT_END": "1",
    }
    begun = dict(whole, NUM_STEPS=str(first_steps(plan.steps)), EVAL_AT_END="0")
    first = train(folder, log + "-1.log", plan.kind, **begun)
    second = train(folder, log + "-2-resumed.log", plan.kind, RESUME="require", **whole)
    one = None
    if plan.kind == "gpu" and plan.devices > 1:
        one = train(folder + "-one", log + "-one.log", plan.kind, **dict(begun, NUM_GPUS="1"))
    numbers = {
        "images_per_sec": images_per_sec(second.folder),
        "images_per_sec_on_one": images_per_sec(one.folder) if one else None,
        "seconds": round(sum(leg.seconds for leg in (first, second, one) if leg), 1),
        "gpu_percent": second.used,
    }
    return judge(trainer, plan, Legs(first, second, one)), numbers


def markdown(result: Dict[str, Any]) -> str:
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
        f"| {check['trainer']} | {check['what']} | {words[check['passed']]} | {check['found']} |"
        for check in result["checks"]
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Tests both trainers and writes the results; returns the exit code."""
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
    plan = Plan(kind, count, arguments.steps, arguments.floor)
    devices = counted(count, "GPU" if gpus else "virtual CPU device")
    print(f"Smoke test on {devices}: {arguments.steps} steps with each trainer.", flush=True)
    shutil.rmtree(os.path.join(ROOT, out), ignore_errors=True)
    os.makedirs(os.path.join(ROOT, out))
    began = time.time()
    checks: List[Check] = []
    numbers: Dict[str, Any] = {}
    for trainer in TRAINERS:
        found, numbers[trainer] = smoke(trainer, plan, out)
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
