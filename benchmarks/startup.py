"""Seconds from process start to the first step, ours against the stock API, in one run on this machine.

    .venv/bin/python -m benchmarks.startup [--rounds 2]

Both train the mini-pets config (data/mini-pets must be there: make mini-pets) with two virtual CPU devices and with
one, turn by turn. The stock API runs from a pristine tree; on two devices it needs the one patch without which it does
not train at all (saver_under_strategy), and the moving average off. Its .pyc files are compiled beforehand, as ours
are.
"""

import argparse
import compileall
import copy
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, List, Mapping, Sequence, Tuple

from common.text import counted

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONFIG = os.path.join(ROOT, "configs", "ssd_mobilenet_v1_mini_pets.config")
TARGETS = {1: 0.5, 2: 0.55}


def seconds_until(line_start: str, command: Sequence[str], environ: Mapping[str, str]) -> float:
    """Runs a command until it prints a line that begins so; returns the seconds that took, and stops it.

    Raises:
        RuntimeError: it ended without such a line; the message holds its last lines.
    """
    began = time.time()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    )
    lines: List[str] = []
    try:
        for line in process.stdout or ():
            if line.startswith(line_start):
                return time.time() - began
            lines.append(line)
    finally:
        process.kill()
        process.wait()
    raise RuntimeError(f"{' '.join(command)} ended without a step:\n{''.join(lines[-15:])}")


def per_replica(config: Any, replicas: int) -> Any:
    """A copy of the config with one replica's share as batch_size, as the stock Estimator under a strategy expects."""
    share = copy.deepcopy(config)
    share.train_config.batch_size = config.train_config.batch_size // replicas
    return share


def effective_config(work: str, devices: int) -> str:
    """Path of a config file in `work` with the dataset filled in and a per-replica batch, as the stock API takes it."""
    from google.protobuf import text_format

    from tfod_train import settings as settings_module
    from tfod_train.config import dataset, pipeline
    from tfod_train.devices import devices as device_choice

    settings = settings_module.read(
        {
            "DEVICE": "cpu",
            "DATASET": os.path.join(ROOT, "data", "mini-pets"),
            "NUM_GPUS": str(devices),
            "USE_MOVING_AVERAGE": "0" if devices > 1 else "1",
        }
    )
    found = dataset.load(settings)
    config, _ = pipeline.effective(pipeline.parse(CONFIG), settings, found, device_choice.choose(settings, []))
    path = os.path.join(work, f"pipeline-{devices}.config")
    with open(path, "w") as out:
        out.write(text_format.MessageToString(per_replica(config, devices)))
    return path


def stock_tree(work: str, devices: int) -> str:
    """Path of a folder in `work` with the API as people have it."""
    tree = os.path.join(work, f"api-{devices}")
    patches = [sys.executable, "-m", "object_detection_patches"]
    subprocess.check_call(patches + ["fetch", tree], cwd=ROOT, stdout=subprocess.DEVNULL)
    # lvis drags OpenCV in, which is not installed here; leaving it out only helps the stock API.
    only = ["--only", "lvis_optional"] + (["--only", "saver_under_strategy"] if devices > 1 else [])
    subprocess.check_call(patches + ["apply", tree] + only, cwd=ROOT, stdout=subprocess.DEVNULL)
    compileall.compile_dir(tree, quiet=2)
    return tree


def measure(work: str, devices: int, rounds: int) -> Tuple[List[float], List[float]]:
    """(stock seconds, our seconds), lists of `rounds` measurements taken turn by turn."""
    tree, config = stock_tree(work, devices), effective_config(work, devices)
    base = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}
    stock: List[float] = []
    ours: List[float] = []
    for turn in range(rounds):
        folder = os.path.join(work, f"stock-{devices}-{turn}")
        stock.append(
            seconds_until(
                "INFO:tensorflow:loss =",
                [sys.executable, "-m", "benchmarks.stock_trainer", config, folder, str(devices)],
                dict(base, PYTHONPATH=os.pathsep.join([tree, ROOT])),
            )
        )
        ours.append(
            seconds_until(
                "First step",
                [sys.executable, "entrypoint.py", "train"],
                dict(
                    base,
                    DEVICE="cpu",
                    NUM_GPUS=str(devices),
                    DATASET="mini-pets",
                    NUM_STEPS="1000",
                    RUN_DIR=os.path.join(work, f"ours-{devices}-{turn}"),
                ),
            )
        )
        print(
            f"{counted(devices, 'device')}, turn {turn + 1}: stock {stock[-1]:.1f} s, ours {ours[-1]:.1f} s", flush=True
        )
    return stock, ours


def main() -> None:
    """Measures on one device and on two, and prints each time and the ratio of the best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="measurements of each kind (default: 2)")
    rounds = parser.parse_args().rounds
    work = tempfile.mkdtemp(prefix="startup-")
    try:
        for devices in (1, 2):
            stock, ours = measure(work, devices, rounds)
            ratio = min(ours) / min(stock)
            print(
                f"{counted(devices, 'device')}: {ratio:.2f} of stock (target: at most {TARGETS[devices]:.2f})",
                flush=True,
            )
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
