"""kill -9, again and again, on one run: it loses no more than what came after the last save, and ends as it should."""

import json
import os
import random
import re
import subprocess
import time

import pytest

from tfod_train.checkpoints import integrity

SEED = 20260101
KILLED = -9
pytestmark = [pytest.mark.long, pytest.mark.kills, pytest.mark.usefixtures("protos")]


def kill_while_saving(process, folder, chance):
    """Kills as soon as the folder shows a save that is not finished, after a few that were."""
    saves = chance.randint(1, 4)
    until = time.time() + 60
    seen = set()
    while time.time() < until:
        started = {name for name in os.listdir(folder) if "_temp_" in name} - seen
        seen |= started
        saves -= bool(started)
        if saves < 0:
            break
    process.kill()
    return bool(started)


def kill_at_random(process, folder, chance):
    time.sleep(chance.uniform(0, 2))
    process.kill()
    return False


def whole(folder):
    """The newest step whose values are as they were saved."""
    from tfod_train.checkpoints import find

    newest = find.newest_checkpoint(folder)
    return newest[1] if newest else 0


def test_a_run_survives_being_killed(request, tiny_command, tiny_training, tmp_path):
    kills = request.config.getoption("--kills")
    chance = random.Random(SEED)
    folder = str(tmp_path / "run")
    step, in_saves, course = 0, 0, []
    for number in range(kills):
        settings = {
            "TRAINER": ("mirrored", "clone")[number % 2],
            "NUM_GPUS": str(1 + number // 2 % 2),
            "CHECKPOINT_EVERY_STEPS": "1",
            "KEEP_CHECKPOINTS": "3",
            "NUM_STEPS": "1000000",
        }
        kill = kill_while_saving if number % 4 in (1, 2) else kill_at_random
        # One in ten comes before the first step.
        first = "Building" if number % 10 == 9 else "First step"
        argv, options = tiny_command("train", folder, **settings)
        lines = []
        with subprocess.Popen(argv, **options) as process:
            for line in process.stdout:
                lines.append(line)
                if line.startswith(first):
                    in_saves += (
                        kill(process, folder, chance)
                        if first != "Building"
                        else kill_at_random(process, folder, chance)
                    )
        assert process.returncode == KILLED, "".join(lines)
        # It went on from all that was whole, and what is there now is no older.
        going_on = [line for line in lines if line.startswith(f"Resuming from step {step} ")]
        assert going_on or not step, "".join(lines)
        torn = [one for one in integrity.steps(folder) if one > whole(folder)]
        assert whole(folder) >= step
        step = whole(folder)
        and_torn = f", torn {torn}" if torn else ""
        course.append(f"{settings['TRAINER']} x {settings['NUM_GPUS']}, {kill.__name__}: step {step}{and_torn}")
    print("\n".join(course))
    finished = tiny_training(folder, NUM_STEPS=str(step + 5), CHECKPOINT_EVERY_STEPS="1", KEEP_CHECKPOINTS="3")
    assert finished.code == 0, finished.console
    assert finished.checkpoints == [step + 3, step + 4, step + 5]
    assert finished.manifest()["step"] == step + 5
    assert any("it was killed (exit code 137" in line for line in finished.lines)
    leftovers = re.compile(r"_temp_|\.tmp")
    assert [name for name in os.listdir(folder) if leftovers.search(name)] == []
    with open(os.path.join(folder, "metrics.jsonl")) as metrics:
        assert [json.loads(line)["step"] for line in metrics][-1] == step + 5
    assert in_saves >= kills // 2 - 1, course
