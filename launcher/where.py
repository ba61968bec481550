"""Where to run, and on which devices: decisions only, made from answers that `host.py` or a test gives."""

import glob
import os
import platform as this_platform
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from common.text import counted, nearest
from launcher import LaunchError
from tfod_train.devices import gpus

# CUDA of the base images that docs/gpus.md names; what others have shows in the container.
CUDA_OF_BASE = {"tensorflow/tensorflow:1.15.0-gpu-py3": (10, 0), gpus.NEWER_IMAGE: (12, 1)}
COMPOSE_NEEDED = (2, 20)
COMPOSE_NEEDED_TEXT = ".".join(map(str, COMPOSE_NEEDED))
PLACES = ("docker", "venv")

WAYS_OUT = """\
One of these is enough:
  1. Docker Engine with compose 2.20 or newer, running, and allowed for this user
  2. CPython 3.7 or 3.6, as python3.7 on the PATH or through pyenv: pyenv install 3.7
  3. uv, which brings Python 3.7 itself: python3 -m pip install --user uv"""

# What to do about each thing that docker_problem says; RUN_IN=venv always does without. The first
# two end with a name of the user's, in which any word may be.
DOCKER_CURES = (
    ("the base image", "Check BASE_IMAGE and the network (`docker pull` says more), or use `docker load`"),
    ("no runtime named", "Leave DOCKER_RUNTIME out, or name one of those that `docker info` lists"),
    ("no docker command", "Install Docker Engine with compose 2.20 or newer (docs.docker.com/engine/install)"),
    ("Docker's socket", "Join the group docker with `sudo usermod -aG docker $USER`, and log in again"),
    ("no Docker engine", "Start Docker with `sudo systemctl start docker`"),
    (
        "compose",
        f"Install the package docker-compose-plugin, {COMPOSE_NEEDED_TEXT} or newer (docker-compose v1 will not do)",
    ),
    (
        "nvidia-container-toolkit",
        "Install it, then `sudo nvidia-ctk runtime configure --runtime=docker` and restart Docker; docs/gpus.md has "
        "the way with CDI or device reservations",
    ),
)
PYTHON_WAYS = "Install one with `pyenv install 3.7`, or uv, which does it alone; RUN_IN=docker needs none."


class Place(NamedTuple):
    """`kind` is "docker" or "venv", `line` the sentence that says why."""

    kind: str
    line: str


class DockerAnswer(NamedTuple):
    """What Docker answered; `engine` is None when no engine did, with the reason in `why_not`."""

    engine: Optional[str] = None
    why_not: str = "no Docker engine answers"
    runtimes: Tuple[str, ...] = ()
    compose: Optional[Tuple[int, ...]] = None
    base_image: str = ""
    base_image_found: bool = False


def docker_cure(problem: str) -> str:
    """What to do about what docker_problem said."""
    cure = next(cure for word, cure in DOCKER_CURES if word in problem)
    return cure + "; RUN_IN=venv runs without Docker."


def docker_problem(answer: DockerAnswer, needs_nvidia: bool, runtime: str = "") -> Optional[str]:
    """Why Docker cannot be used, as half a sentence; None when it can.

    Args:
        answer: as host.ask_docker returns it.
        needs_nvidia: the runtime nvidia is going to be asked for.
        runtime: DOCKER_RUNTIME, "" when not set.
    """
    if answer.engine is None:
        return answer.why_not
    if answer.compose is None:
        return f"Docker has no compose plugin, and {COMPOSE_NEEDED_TEXT} or newer is needed"
    if answer.compose < COMPOSE_NEEDED:
        version = ".".join(map(str, answer.compose))
        return f"docker compose is {version}, and {COMPOSE_NEEDED_TEXT} or newer is needed"
    if needs_nvidia and "nvidia" not in answer.runtimes:
        return "this machine has a GPU, but Docker has no nvidia runtime (nvidia-container-toolkit)"
    if runtime and runtime not in answer.runtimes:
        return f"Docker has no runtime named {runtime}"
    if not answer.base_image_found:
        return f"the base image {answer.base_image} is neither on this machine nor reachable"
    return None


def too_new(generations: Sequence[Tuple[str, Tuple[int, int]]], image: str) -> Optional[Tuple[str, str]]:
    """(what, do) where every GPU is too new for the base image, which is then not worth fetching; else None.

    Args:
        generations: as host.gpu_generations returns them. One GPU that fits may be the one that is chosen.
        image: BASE_IMAGE, with or without a digest.
    """
    cuda = CUDA_OF_BASE.get(image.partition("@")[0])
    judged = [gpus.generation(gpus.Gpu("", name, capability), cuda) for name, capability in generations]
    if not cuda or not judged or any(level != "error" for level, _, _ in judged):
        return None
    _, what, do = judged[0]
    return what + ".", do


def platform_problem(system: Optional[str] = None, machine: Optional[str] = None) -> Optional[str]:
    """Why no virtual environment can work on this platform, this machine's by default; None when it can."""
    system = system or this_platform.system()
    machine = machine or this_platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        return f"TensorFlow 1.15 has packages for x86-64 Linux only, and this is {system} {machine}"
    return None


def choose(
    run_in: Optional[str], ask_docker: Callable[[], Optional[str]], ask_venv: Callable[[], Optional[str]]
) -> Place:
    """Decides on the Place.

    Args:
        run_in: the variable RUN_IN, None or empty when not set.
        ask_docker, ask_venv: called only when their answer matters, since asking takes time; each returns None
            when that place can be used, else half a sentence saying why not.

    Raises:
        LaunchError: code 2 for an unknown RUN_IN, code 3 when the place asked for, or every place, is missing.
    """
    if run_in and run_in not in PLACES:
        near = nearest(run_in.lower(), PLACES, cutoff=0.4)
        guess = f"Did you mean RUN_IN={near}?" if near else "Set RUN_IN=docker or RUN_IN=venv."
        raise LaunchError(f"RUN_IN={run_in} is not a place to run in.", guess + " Left out, it is found out.", code=2)
    if run_in == "venv":
        problem = ask_venv()
        if problem:
            raise LaunchError(f"RUN_IN=venv cannot be met: {problem}.", PYTHON_WAYS)
        return Place("venv", "Running in a virtual environment (RUN_IN=venv).")

    no_docker = ask_docker()
    if no_docker is None:
        why = "RUN_IN=docker" if run_in else "an engine answers; RUN_IN=venv does without"
        return Place("docker", f"Running in Docker ({why}).")
    if run_in == "docker":
        raise LaunchError(f"RUN_IN=docker cannot be met: {no_docker}.", docker_cure(no_docker))
    no_venv = ask_venv()
    if no_venv is None:
        line = f"Running in a virtual environment ({no_docker}); RUN_IN=docker insists on Docker."
        return Place("venv", line)
    raise LaunchError(f"There is nowhere to run: {no_docker}, and {no_venv}.", WAYS_OUT)


def wants_gpu(environ: Mapping[str, str], gpus: int, command: Optional[str]) -> bool:
    """Whether a command will ask for a GPU: the user's DEVICE wins, then the GPUs there are.

    Evaluation stays on the CPU unless EVAL_GPUS (or CUDA_VISIBLE_DEVICES) names GPUs: training has them.
    """
    if environ.get("DEVICE"):
        return environ["DEVICE"] != "cpu"
    if command == "eval" and not named_gpus(environ, "EVAL_GPUS"):
        return False
    return gpus > 0


def named_gpus(environ: Mapping[str, str], variable: str) -> str:
    """The GPUs a user named for a command, "" for none: from `variable`, else from CUDA_VISIBLE_DEVICES."""
    value = environ.get(variable) or environ.get("CUDA_VISIBLE_DEVICES") or ""
    return "" if value == "none" else value


def mounted(arguments: Sequence[str], root: str) -> Tuple[List[str], List[str]]:
    """The arguments of `detect` with absolute paths, and the options that show a container the same paths.

    Args:
        arguments: as the user wrote them; what is no option's value is an image.
        root: the folder that relative paths start from.

    Returns:
        (arguments, options): the folder of --out is made, by the user who is going to own it.
    """
    read_only: Set[str] = set()
    writable: Set[str] = set()
    absolute: List[str] = []
    option: Optional[str] = None
    for argument in arguments:
        if argument.startswith("--") and "=" not in argument:
            absolute.append(argument)
            option = None if option is None and argument == "--help" else argument
            continue
        path = os.path.abspath(os.path.join(root, argument))
        if option == "--min-score" or argument.startswith("--"):
            absolute.append(argument)
        else:
            absolute.append(path)
            if option == "--out":
                os.makedirs(path, exist_ok=True)
                writable.add(path)
            else:
                read_only.add(path if option == "--model" else os.path.dirname(path))
        option = None
    there = {path for path in read_only - writable if os.path.isdir(path)}
    volumes = [f"{path}:{path}:ro" for path in sorted(there)] + [f"{path}:{path}" for path in writable]
    return absolute, [word for volume in volumes for word in ("--volume", volume)]


def converted(source: str, out: str, data_dir: str) -> Tuple[List[str], List[str]]:
    """The options of a conversion in a container, and those that show it both folders.

    Args:
        source: the absolute path of what is converted; it is read-only there.
        out: the absolute path of the dataset. Below data_dir, which is mounted anyway, it needs nothing; else it is
            made, by the user who is going to own it.
        data_dir: the folder that is the container's /data.
    """
    volumes = [f"{source}:{source}:ro"]
    inside = os.path.relpath(out, os.path.abspath(data_dir))
    if inside.startswith(os.pardir):
        os.makedirs(out, exist_ok=True)
        volumes.append(f"{out}:{out}")
    else:
        out = os.path.join("/data", inside)
    return ["--source", source, "--out", out], [word for volume in volumes for word in ("--volume", volume)]


def below_data(path: str, data_dir: str) -> str:
    """What an absolute path below data_dir is in a container, where that is /data.

    Raises:
        LaunchError: it lies elsewhere, and no training in a container would see it.
    """
    if not _inside(path, data_dir):
        raise LaunchError(
            f"{path} is not below {data_dir}, and a training in a container sees no records elsewhere.",
            "Move or copy it there, set DATA_DIR to a folder above it, or do without Docker: RUN_IN=venv.",
            code=2,
        )
    return os.path.join("/data", os.path.relpath(path, data_dir))


def adopted(
    records: Mapping[str, Sequence[str]], label_map: str, out: str, data_dir: str
) -> Tuple[List[str], List[str]]:
    """The options of adopting in a container, and those that show it the label map, which is copied.

    A training sees the data's folder alone, so records and dataset have to lie there, and not by a link that leads out.

    Args:
        records: {option: absolute paths and patterns}.
        label_map: its absolute path.
        out: the absolute path of the dataset.
        data_dir: the folder that is the container's /data.

    Raises:
        LaunchError: one of them lies elsewhere.
    """
    every = [name for paths in records.values() for path in paths for name in (glob.glob(path) or [path])]
    for path in every + [out]:
        if not (_inside(path, data_dir) and _inside(os.path.realpath(path), os.path.realpath(data_dir))):
            raise LaunchError(
                f"{path} does not lie in {data_dir}, and a training in a container sees no other data.",
                "Move or copy it there, set DATA_DIR to the folder that holds all of it, or run without Docker: "
                "RUN_IN=venv.",
                code=2,
            )

    def there(path: str) -> str:
        return os.path.join("/data", os.path.relpath(path, data_dir)) if _inside(path, data_dir) else path

    folder = os.path.dirname(label_map)
    volumes = [] if _inside(label_map, data_dir) else ["--volume", f"{folder}:{folder}:ro"]
    inside = {option: [there(path) for path in paths] for option, paths in records.items()}
    return adopt_options(inside, there(label_map), there(out)), volumes


def adopt_options(records: Mapping[str, Sequence[str]], label_map: str, out: str) -> List[str]:
    """The options of data_prep's adopt; records: {option: paths}, of which an empty list is left out."""
    words = [word for option, paths in records.items() if paths for word in ["--" + option] + list(paths)]
    return words + ["--label-map", label_map, "--out", out]


def _inside(path, folder):
    return os.path.relpath(path, folder).split(os.sep)[0] != os.pardir


def written(arguments: Sequence[str], root: str, data_dir: str) -> Tuple[List[str], List[str]]:
    """Arguments whose --out, a file, is what it is in a container, and the options that show it the file's folder.

    Args:
        arguments: as the user wrote them.
        root: the folder that relative paths start from, with runs/ in it.
        data_dir: the folder that is the container's /data.
    """
    words, volumes = list(arguments), []
    for place in (number + 1 for number, word in enumerate(words[:-1]) if word == "--out"):
        path = os.path.abspath(os.path.join(root, os.path.expanduser(words[place])))
        for mounted_at, folder in (("/data", os.path.join(root, data_dir)), ("/runs", os.path.join(root, "runs"))):
            inside = os.path.relpath(path, os.path.abspath(folder))
            if not inside.startswith(os.pardir):
                words[place] = os.path.join(mounted_at, inside)
                break
        else:
            words[place] = path
            volumes = ["--volume", f"{os.path.dirname(path)}:{os.path.dirname(path)}"]
    return words, volumes


def shown(arguments: Sequence[str], root: str) -> Tuple[List[str], List[str]]:
    """Arguments with absolute paths for what is there, and the options that show a container the same, read-only.

    Args:
        arguments: as the user wrote them.
        root: the folder that relative paths start from.
    """
    words: List[str] = []
    folders: Set[str] = set()
    for argument in arguments:
        path = os.path.abspath(os.path.join(root, argument))
        there = bool(argument) and not argument.startswith("-") and os.path.exists(path)
        words.append(path if there else argument)
        if there:
            folders.add(path if os.path.isdir(path) else os.path.dirname(path))
    return words, [word for folder in sorted(folders) for word in ("--volume", f"{folder}:{folder}:ro")]


def devices(environ: Mapping[str, str], gpus: int, command: str, place: str) -> Tuple[Dict[str, str], str]:
    """What to add to the environment of `command` ("train" or "eval") so that it uses the right devices.

    Args:
        environ: the user's environment; what is set there is kept.
        gpus: number of NVIDIA GPUs on this machine.
        command: its name.
        place: "docker" or "venv". In a container the GPUs are chosen by compose.yaml (TRAIN_GPUS, EVAL_GPUS).

    Returns:
        (settings, line): a dict of variables, and a sentence that says what was chosen.
    """
    settings = {}
    gpu = wants_gpu(environ, gpus, command)
    if not environ.get("DEVICE"):
        settings["DEVICE"] = "gpu" if gpu else "cpu"
    if place == "docker":
        if not environ.get("DOCKER_RUNTIME") and not (gpu and gpus):
            settings["DOCKER_RUNTIME"] = "runc"
        if command == "eval" and gpu and not (environ.get("EVAL_GPUS") or environ.get("CUDA_VISIBLE_DEVICES")):
            settings["EVAL_GPUS"] = "all"  # compose.yaml gives an evaluation none unless told; DEVICE=gpu tells it
    else:
        variable = "EVAL_GPUS" if command == "eval" else "TRAIN_GPUS"
        chosen = environ.get(variable)
        if chosen and chosen != "all":
            settings["CUDA_VISIBLE_DEVICES"] = "" if chosen == "none" else chosen
        elif command == "eval" and not gpu:
            settings["CUDA_VISIBLE_DEVICES"] = ""
    return settings, _device_line(environ, gpus, command, gpu)


def _device_line(environ, gpus, command, gpu):
    if environ.get("DEVICE"):
        return f"DEVICE={environ['DEVICE']} as set."
    if gpu:
        return f"Found {counted(gpus, 'NVIDIA GPU')}: DEVICE=gpu."
    if command == "eval":
        hint = "; EVAL_GPUS=0 uses the first GPU" if gpus else ""
        return f"Evaluating on the CPU{hint}."
    # As the user wrote it: whether it is a number at all is for the settings to say.
    number = environ.get("NUM_GPUS") or "two"
    noun = "virtual CPU device" if number == "1" else "virtual CPU devices"
    return f"No NVIDIA GPU found: DEVICE=cpu, training on {number} {noun}."
