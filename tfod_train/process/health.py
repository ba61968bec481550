"""Tells docker/healthcheck.py what the process is doing and until when silence is no reason to worry."""

import json
import os
import tempfile
import time
from typing import Callable, Optional

from common import files

PATH = os.path.join(tempfile.gettempdir(), "tfod-train-health.json")
# Building the graph and compiling kernels for a new GPU takes minutes; a step or an image takes seconds.
FRESH_FOR_SECS = {"building": 1800, "training": 600, "evaluating": 120, "waiting": 300, "stalled": 0}


class Health(object):
    """Writes the health file, at most once a second for the same phase.

    Args:
        path: where docker/healthcheck.py looks.
        clock: unix seconds; for tests.
        stall_secs: a training's silence that is none to worry about: STALL_SECS, after which it ends.
    """

    def __init__(
        self, path: str = PATH, clock: Callable[[], float] = time.time, stall_secs: int = FRESH_FOR_SECS["training"]
    ):
        self._fresh_for_secs = dict(FRESH_FOR_SECS, training=stall_secs)
        self._path = path
        self._clock = clock
        self._phase: Optional[str] = None
        self._at = 0.0

    def beat(self, phase: str) -> None:
        """The process is alive, in a phase of FRESH_FOR_SECS."""
        now = self._clock()
        if phase == self._phase and now - self._at < 1:
            return
        self._phase, self._at = phase, now
        beat = {"phase": phase, "at": now, "fresh_for_secs": self._fresh_for_secs[phase]}
        files.write(self._path, json.dumps(beat).encode(), durable=False)
