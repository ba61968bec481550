"""How much memory this process may use: the machine's, or less under a limit (container, systemd)."""

import os
from typing import Optional

# The file of a control group that holds its limit: version 1 in a hierarchy of its own, version 2.
LIMITS = (("memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("", "sys/fs/cgroup", "memory.max"))


def limit(root: str = "/", total: Optional[int] = None) -> int:
    """Bytes of memory this process may use: the smallest of the machine's and of the limits on its control groups.

    Args:
        root: where /proc and /sys are; for tests.
        total: bytes of the machine; None asks it.
    """
    if total is None:
        import psutil

        total = psutil.virtual_memory().total
    return min([total] + _group_limits(root))


def _group_limits(root):
    limits = []
    for line in _lines(os.path.join(root, "proc/self/cgroup")):
        _, controllers, group = line.split(":", 2)
        for controller, hierarchy, name in LIMITS:
            if controller in controllers.split(",") and (controller or not controllers):
                limits += _limits_up_from(os.path.join(root, hierarchy), group, name)
    return limits


def _limits_up_from(hierarchy, group, name):
    """A group is bound by its parents' limits too. In a container the group's path may be the host's, which is not
    there; the hierarchy's own root is the container's group then."""
    found = []
    parts = [part for part in group.split("/") if part]
    for length in range(len(parts), -1, -1):
        # "max" is version 2's word for no limit; version 1 says a number larger than any memory.
        path = os.path.join(hierarchy, *(parts[:length] + [name]))
        found += [int(line) for line in _lines(path) if line.isdigit()]
    return found


def _lines(path):
    try:
        with open(path) as source:
            return source.read().split("\n")[:-1]
    except OSError:
        return []
