"""The image's entrypoint: becomes the right user, sees that it can write, and becomes the command.

compose starts the container as UID:GID, where these are set. Shells do not export them, so often they are
not, and the container starts as root: then this becomes the owner of /runs, and the outputs belong to the
user of the host who made the clone, with nothing to configure.
"""

import os
import re
import sys
from typing import List, Mapping, Optional, Set

from common.commands import COMMANDS, RUNS
from common.errors import PREFLIGHT_FAILED, SETTINGS_REFUSED

ENTRYPOINT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "entrypoint.py")


def become_owner(folder: str) -> None:
    """Gives up root for the owner of `folder`; any other user, and a folder of root's, change nothing."""
    if os.getuid() != 0:
        return
    owner = os.stat(folder)
    if owner.st_uid == 0:
        print(f"{folder} belongs to root, so this runs as root and so do its outputs.", flush=True)
        return
    os.setgroups([])
    os.setgid(owner.st_gid)
    os.setuid(owner.st_uid)


def written_by(command: Optional[str]) -> Optional[str]:
    """The folder that a command writes. No more than that is asked for: to train, data may be read-only."""
    return COMMANDS[command].writes if command in COMMANDS else None


def takes_out(command: str) -> bool:
    return command in COMMANDS and COMMANDS[command].has_out


def refusal(command: Optional[str]) -> Optional[str]:
    """What is wrong and what to do, when this user cannot write what `command` writes; else None."""
    folder = written_by(command)
    if folder is None or os.access(folder, os.W_OK | os.X_OK):
        return None
    owner = os.stat(folder)
    user, group = os.getuid(), os.getgid()
    # The host's folder has the container's name, without the slash: compose.yaml mounts ./runs and ./data.
    return (
        f"{folder} cannot be written: it belongs to user {owner.st_uid}:{owner.st_gid}, "
        f"and this runs as {user}:{group}.\n"
        f"Give it to the user on the host, `sudo chown -R {user}:{group} {folder[1:]}`, and mount it without `ro`."
    )


def lost(command: Optional[str], environ: Mapping[str, str]) -> Optional[str]:
    """Two sentences when RUN_DIR is in no folder of the host's, and its results would go with the container."""
    run_dir = environ.get("RUN_DIR")
    if written_by(command) != RUNS or not run_dir:
        return None
    if os.path.realpath(run_dir).startswith(RUNS + os.sep):
        return None
    name = os.path.basename(run_dir.rstrip("/")) or "NAME"
    return (
        f"RUN_DIR={run_dir} is outside of runs/, and would be lost with the container.\n"
        f"Name a folder in it, RUN_DIR=runs/{name}, or train without Docker: RUN_IN=venv."
    )


def lost_out(arguments: List[str]) -> Optional[str]:
    """Two sentences when --out is in no folder of the host's; else None."""
    command, options = arguments[:1], arguments[1:]
    if not command or not takes_out(command[0]) or "--help" in options or "-h" in options:
        return None
    given = [value for option, value in zip(options, options[1:]) if option == "--out"]
    given += [option.partition("=")[2] for option in options if option.startswith("--out=")]
    out = given[-1] if given else COMMANDS[command[0]].default_out
    if out is None or of_the_host(out):
        return None
    folder = "data" if command[0] == "data" else "runs"
    return (
        f"--out {out} is in no folder of the host's, and would be lost with the container.\n"
        f"Name one in {folder}/, or mount one with --volume."
    )


def of_the_host(path: str) -> bool:
    """Whether something is mounted at a path or above it; not /tmp, which is in memory."""
    path, mounted = os.path.realpath(path), mount_points()
    while path != os.sep and path not in mounted:
        path = os.path.dirname(path)
    return path not in (os.sep, "/tmp")


def mount_points(table: str = "/proc/self/mountinfo") -> Set[str]:
    """The folders at which something is mounted (proc(5)). os.path.ismount misses a folder of the same file system."""
    with open(table) as file:
        return {re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), line.split()[4]) for line in file}


def device(environ: Mapping[str, str]) -> str:
    """DEVICE for the command: what is set, else `cpu` when the container was given no GPU on purpose."""
    if environ.get("DEVICE"):
        return environ["DEVICE"]
    return "cpu" if environ.get("NVIDIA_VISIBLE_DEVICES") in ("none", "void") else ""


def command_line(arguments: List[str], environ: Mapping[str, str]) -> List[str]:
    """The program for the container's arguments: TensorBoard's own, for all else entrypoint.py."""
    if arguments[:1] == ["tensorboard"]:
        return [sys.executable, "-m", "tensorboard.main"] + arguments[1:]
    # PETS_DIR says that the host's folder of raw images is mounted, and where.
    if arguments == ["data", "pets"] and environ.get("PETS_DIR"):
        arguments = arguments + ["--source", environ["PETS_DIR"]]
    return [sys.executable, ENTRYPOINT] + arguments


def main(arguments: List[str]) -> int:
    """Becomes the command; returns an exit code only where it is refused."""
    become_owner(RUNS)
    command = arguments[0] if arguments else None
    problem = lost(command, os.environ) or lost_out(arguments)
    if problem:
        print(problem, file=sys.stderr)
        return SETTINGS_REFUSED
    problem = refusal(command)
    if problem:
        print(problem, file=sys.stderr)
        return PREFLIGHT_FAILED
    environ = dict(os.environ, DEVICE=device(os.environ))
    program = command_line(arguments, os.environ)
    os.execve(program[0], program, environ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
