"""Runs a command in a container, and tells in its log which processes it left behind: python watched.py COMMAND...

When the first process of a container ends, the kernel ends all others without a word. So this takes the first
place, as the reaper of every process that loses its parent, passes signals on, and after the command looks at what
is still there; while it runs, at processes that have ended and that nobody waits for (zombies).
"""

import ctypes
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
POLL_SECS = 0.1
LOOK_SECS = 1
# What ends by itself this soon after the command was on its way out.
GRACE_SECS = 1
# A parent that is busy for this long still counts as waiting.
ZOMBIE_SECS = 5
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def processes():
    """{pid: (parent's pid, state, command line)} of the container."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline", "rb") as line:
                before, _, after = stat.read().rpartition(")")
                command = " ".join(line.read().replace(b"\0", b" ").decode("utf-8", "replace").split())
        except OSError:
            continue  # ended in between
        state, parent = after.split()[:2]
        found[int(pid)] = (int(parent), state, command or before.partition("(")[2])
    return found


def descendants(found, ancestor):
    """The part of `found` below a process. What `docker exec` and health checks start is not."""
    below, grown = {ancestor}, True
    while grown:
        more = {pid for pid, (parent, _, _) in found.items() if parent in below} - below
        below, grown = below | more, bool(more)
    return {pid: found[pid] for pid in below - {ancestor}}


def tell(what, pid, process):
    os.write(1, f"leftover: {what} {pid} ({process[1]}): {process[2]}\n".encode())


def reap():
    """(pid, status) of a process that ended, (0, 0) where none has."""
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0, 0


def watch(command):
    """Waits for the command's end and returns its status; tells zombies."""
    since, looked = {}, 0
    while True:
        pid, status = reap()
        if pid == command:
            return status
        if pid:
            continue
        if time.time() - looked > LOOK_SECS:
            looked = time.time()
            dead = {
                pid: process
                for pid, process in descendants(processes(), os.getpid()).items()
                if process[1] == "Z" and process[0] != os.getpid()
            }
            since = {pid: since.get(pid, looked) for pid in dead}
            for pid in dead:
                if looked - since[pid] > ZOMBIE_SECS:
                    tell("zombie", pid, dead[pid])
                    since[pid] = float("inf")  # once
        time.sleep(POLL_SECS)


def remaining():
    """The processes that are there a moment after the command."""
    end = time.time() + GRACE_SECS
    while True:
        while reap()[0]:
            pass
        left = descendants(processes(), os.getpid())
        if not left or time.time() > end:
            return left
        time.sleep(POLL_SECS)


def main(arguments):
    command = []
    for number in SIGNALS:
        signal.signal(number, lambda number, _: [os.kill(pid, number) for pid in command])
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit(f"leftover processes cannot be watched: errno {ctypes.get_errno()}")
    pid = os.fork()
    if pid == 0:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.execvp(arguments[0], arguments)
    command.append(pid)
    status = watch(pid)
    command.clear()
    for pid, process in sorted(remaining().items()):
        tell("process", pid, process)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
