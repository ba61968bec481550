"""Says whether the container makes progress: exit code 0 or 1 and one line, which `docker inspect` shows.

A training that builds its graph is silent for minutes and healthy; one that makes no step for as long is
not. So the process itself writes what it is doing and how long its silence is no reason to worry.
"""

import json
import os
import sys
import tempfile
import time
from typing import Tuple


def judge(path: str, now: float) -> Tuple[bool, str]:
    """Judges a health file.

    Args:
        path: the file that tfod_train/process/health.py writes: phase, at (unix seconds), fresh_for_secs.
        now: unix seconds.

    Returns:
        (healthy, line): the line is what people are shown.
    """
    try:
        with open(path) as file:
            health = json.load(file)
        phase, at, fresh_for = health["phase"], float(health["at"]), float(health["fresh_for_secs"])
    except FileNotFoundError:
        return False, "nothing has started yet"
    except (KeyError, TypeError, ValueError) as error:
        return False, f"{path} is damaged: {error}"
    silent = now - at
    line = f"{phase}, last sign of life {silent:.0f} s ago, at most {fresh_for:.0f} s are normal"
    return silent < fresh_for, line


if __name__ == "__main__":
    healthy, line = judge(os.path.join(tempfile.gettempdir(), "tfod-train-health.json"), time.time())
    print(line)
    sys.exit(0 if healthy else 1)
