"""`python3 -m launcher COMMAND`, for the Makefile: decides where a command runs, prepares that, runs it.

The command then takes this process's place, so that signals reach it and its exit code is the one people see.
"""

import argparse
import functools
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from common import other_tools
from common.commands import COMMANDS
from common.text import did_you_mean, nearest
from launcher import LaunchError, environment, host, pin_base, say, where
from tfod_train import __version__

if TYPE_CHECKING:
    from typing import NoReturn  # Python 3.6.0 and 3.6.1 have none

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IMAGE = "tfod-train"  # as compose.yaml calls it
BUILD_LOG = os.path.join("runs", "docker-build.log")
DATASETS = ("mini-pets", "pets")
NEED_DATA = ("train", "eval")


def main(argv: List[str], environ: Mapping[str, str]) -> int:
    """Runs the command that argv begins with.

    Args:
        argv: the command and its arguments, without the program's name.
        environ: the user's environment, with what .env adds to it.

    Returns:
        exit code, where the command did not take this process's place.

    Raises:
        LaunchError: there is no such command, or it cannot run here.
    """
    if not argv or argv[0] in ("-h", "--help", "help"):
        say(usage())
        return 0
    name, arguments = argv[0], argv[1:]
    known = list(OWN) + list(COMMANDS)
    if name not in known:
        raise LaunchError(f"There is no command {name}.", did_you_mean(name, known, usage()), code=2)
    return run(name, arguments, environ)


def setup(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Prepares the place to run in; with --tests the virtual environment that the tests use. Returns 0."""
    if arguments not in ([], ["--tests"]):
        raise LaunchError(f"setup does not take {' '.join(arguments)}.", "It takes --tests or nothing.", code=2)
    if arguments:
        environment.ensure(ROOT, environ, "test")
        say("The environment of the tests is ready.")
        return 0
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        build_image(with_clone(environ))
        say("The image is ready.")
    else:
        environment.ensure(ROOT, environ)
        say("The virtual environment is ready.")
    return 0


def run_on_devices(command: str, arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs a command that chooses devices (`train`, `eval`, `preflight`) on those there are."""
    _refuse_arguments(command, arguments, f"Settings are variables: make {command} TRAINER=clone")
    _refuse_names_of_other_tools(environ)
    # Only converting pets reads it, and compose would refuse to start anything where it names no folder.
    environ = dict(environ, PETS_DIR="")
    gpus = host.count_gpus()
    place = find_place(environ, gpus, command)
    settings, line = where.devices(environ, gpus, command, place.kind)
    say(place.line)
    say(line)
    if place.kind == "docker" and gpus and where.wants_gpu(environ, gpus, command):
        problem = where.too_new(host.gpu_generations(), environ.get("BASE_IMAGE") or host.BASE_IMAGE)
        if problem:
            raise LaunchError(*problem)
    environ = dict(environ, **settings)
    if place.kind == "docker":
        return in_container(environ, [command])
    return in_environment(environ, ["entrypoint.py", command])


def run_without_devices(command: str, arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs a command that needs no GPU, and takes arguments."""
    # Only converting pets reads PETS_DIR, and compose would refuse to start anything where it names no folder.
    environ = dict(environ, PETS_DIR="")
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        return in_container(environ, [command] + arguments)
    return in_environment(environ, ["entrypoint.py", command] + arguments)


def detect(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs `detect`; a container is shown the folders of its images, its model and --out."""
    environ = dict(environ, PETS_DIR="")
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        arguments, volumes = where.mounted(arguments, ROOT)
        return in_container(environ, ["detect"] + arguments, volumes)
    return in_environment(environ, ["entrypoint.py", "detect"] + arguments)


def diff(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs `diff`; a container is shown the runs that are named, wherever they are."""
    environ = dict(environ, PETS_DIR="")
    place = find_place(environ, gpus=None)
    if place.kind == "docker":
        arguments, volumes = where.shown(arguments, ROOT)
        return in_container(environ, ["diff"] + arguments, volumes)
    return in_environment(environ, ["entrypoint.py", "diff"] + arguments)


def data(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Prepares a dataset: the one argument names it."""
    if len(arguments) != 1 or arguments[0] not in DATASETS:
        unknown = " ".join(arguments) or "which dataset"
        raise LaunchError(f"data does not know {unknown}.", f"The datasets are {' and '.join(DATASETS)}.", code=2)
    name = arguments[0]
    source = pets_dir(environ) if name == "pets" else None
    place = find_place(environ, gpus=None)
    say(place.line)
    options = [name]
    if place.kind == "docker":
        # compose.yaml mounts PETS_DIR there.
        options += ["--source", "/pets"] if source else []
        return in_container(dict(environ, PETS_DIR=source or ""), ["data"] + options)
    options += ["--source", source] if source else []
    return in_environment(environ, ["entrypoint.py", "data"] + options)


def dataset(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Converts the folder --source into --out, by default data/ and the folder's name; a container is shown both."""
    parser = argparse.ArgumentParser(prog="make dataset", allow_abbrev=False)
    for name in ("source", "format", "out"):
        parser.add_argument("--" + name, default="")
    options = parser.parse_args(arguments)
    source = os.path.abspath(os.path.join(ROOT, os.path.expanduser(options.source)))
    if not options.source or not os.path.isdir(source):
        raise LaunchError(
            f"SOURCE={options.source} is not a folder.",
            "Name the one that holds images and annotations: make dataset SOURCE=~/my-images.",
            code=2,
        )
    out = os.path.abspath(os.path.join(ROOT, os.path.expanduser(options.out or f"data/{os.path.basename(source)}")))
    environ = dict(environ, PETS_DIR="")
    place = find_place(environ, gpus=None)
    say(place.line)
    words: List[str] = ["--source", source, "--out", out]
    volumes: List[str] = []
    if place.kind == "docker":
        words, volumes = where.converted(source, out, os.path.join(ROOT, environ.get("DATA_DIR") or "data"))
    words = ["data", "dataset"] + words + (["--format", options.format] if options.format else [])
    if place.kind == "docker":
        return in_container(environ, words, volumes)
    return in_environment(environ, ["entrypoint.py"] + words)


def adopt(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Describes TFRecords that are there in --out, by default the data's folder and FOLDER-adopted."""
    parser = argparse.ArgumentParser(prog="make adopt", allow_abbrev=False)
    for name in ("records", "val", "test"):
        parser.add_argument("--" + name, nargs="*", default=[])
    for name in ("label-map", "out"):
        parser.add_argument("--" + name, default="")
    options = parser.parse_args(arguments)
    for variable in ("RECORDS", "VAL", "LABEL_MAP"):
        if not getattr(options, variable.lower()):
            raise LaunchError(
                f"make adopt needs {variable}=.",
                "Name all three: make adopt RECORDS='my/train.record-*' VAL=my/val.record LABEL_MAP=my/map.pbtxt.",
                code=2,
            )
    records = {name: _absolute(getattr(options, name)) for name in ("records", "val", "test")}
    data_dir = os.path.abspath(os.path.join(ROOT, environ.get("DATA_DIR") or "data"))
    name = os.path.basename(os.path.dirname(records["records"][0])) + "-adopted"
    (out, label_map) = _absolute([options.out or os.path.join(data_dir, name), options.label_map])
    environ = dict(environ, PETS_DIR="")
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        words, volumes = where.adopted(records, label_map, out, data_dir)
        return in_container(environ, ["data", "adopt"] + words, volumes)
    words = where.adopt_options(records, label_map, out)
    return in_environment(environ, ["entrypoint.py", "data", "adopt"] + words)


def _absolute(paths):
    return [os.path.abspath(os.path.join(ROOT, os.path.expanduser(path))) for path in paths]


def check(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Checks the records of a dataset: a folder, or one of DATASETS."""
    return _look_at("check", arguments, environ)


def show(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Draws the contact sheet of a dataset: a folder, or one of DATASETS."""
    return _look_at("show", arguments, environ)


def _look_at(command, arguments, environ):
    if len(arguments) != 1:
        raise LaunchError(f"{command} takes one dataset.", f"make {command} DATASET=data/mine", code=2)
    data_dir = os.path.abspath(os.path.join(ROOT, environ.get("DATA_DIR") or "data"))
    folder = os.path.join(data_dir, arguments[0]) if arguments[0] in DATASETS else os.path.expanduser(arguments[0])
    folder = os.path.abspath(os.path.join(ROOT, folder))
    environ = dict(environ, PETS_DIR="")
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        return in_container(environ, ["data", command, where.below_data(folder, data_dir)])
    return in_environment(environ, ["entrypoint.py", "data", command, folder])


def config(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Writes a config for DATASET; the model is by default one for the devices of this machine."""
    _refuse_names_of_other_tools(environ, ("MODEL", "OUT"))
    environ = dict(environ, PETS_DIR="")
    if not environ.get("DEVICE"):
        environ["DEVICE"] = "gpu" if host.count_gpus() else "cpu"
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        arguments, volumes = where.written(arguments, ROOT, environ.get("DATA_DIR") or "data")
        return in_container(environ, ["config"] + arguments, volumes)
    return in_environment(environ, ["entrypoint.py", "config"] + arguments)


def pets_dir(environ: Mapping[str, str]) -> Optional[str]:
    """The absolute folder that PETS_DIR names, None when it is not set. Raises LaunchError: it is no folder."""
    value = environ.get("PETS_DIR")
    if not value:
        return None
    path = os.path.abspath(os.path.join(ROOT, os.path.expanduser(value)))
    if not os.path.isdir(path):
        raise LaunchError(
            f"PETS_DIR={value} is not a folder.",
            "Name the folder that holds images/ and annotations/, or leave PETS_DIR out to download them.",
            code=2,
        )
    return path


def tensorboard(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Shows the curves of runs/; ends with Ctrl-C."""
    place = find_place(environ, gpus=None)
    say(place.line)
    if place.kind == "docker":
        return in_container(environ, ["tensorboard"], ["--service-ports"])
    command = ["-m", "tensorboard.main", "--logdir", "runs", "--host", "127.0.0.1", "--port", "6006"]
    return in_environment(environ, command + arguments)


def python(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Becomes the virtual environment's Python with these arguments."""
    return in_environment(environ, arguments)


def pytest(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Becomes pytest with these arguments, in the virtual environment with the packages of the tests."""
    return in_environment(environ, ["-m", "pytest"] + arguments, "test")


def lint(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs the checks of launcher/lint.py, all or those named."""
    environment.ensure(ROOT, environ, "lint")
    if environment.minor_version(ROOT) == "3.6":
        say("make lint needs Python 3.7 or newer, and .venv has Python 3.6: nothing was checked.")
        return 0
    return in_environment(environ, ["-m", "launcher.lint"] + arguments, "lint")


def image_tests(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs the tests of the image, or says why not; a folder may bring an engine and a base image."""
    image = environ.get("BASE_IMAGE") or host.BASE_IMAGE
    problem = where.docker_problem(host.ask_docker(image), needs_nvidia=False)
    for script in ("engine-up", "base-image") if problem and arguments else ():
        path = os.path.join(ROOT, arguments[0], script)
        if os.path.exists(path):
            code = subprocess.call([path], cwd=ROOT)
            if code:
                raise LaunchError(f"{path} failed with code {code}.", "The lines above say why.")
            problem = where.docker_problem(host.ask_docker(image), needs_nvidia=False)
    if problem:
        say(f"SKIPPED: the image's tests need Docker, but {problem}.")
        return 0
    return pytest(["tests/image", "-m", "image"], environ)


def write_pin(arguments: List[str], environ: Mapping[str, str]) -> int:
    """Writes the digest of BASE_IMAGE into .env, and prints what it wrote. Returns 0."""
    _refuse_arguments("pin-base", arguments, "The image is a variable: make pin-base BASE_IMAGE=NAME:TAG")
    say(pin_base.pin(ROOT, environ.get("BASE_IMAGE") or host.BASE_IMAGE))
    return 0


def _refuse_names_of_other_tools(environ, own=()):
    """EPOCHS=3 would be ignored without a word; compose would not even pass it on.

    Args:
        environ: the user's environment, with what .env adds to it.
        own: names of variables that the command's recipe in the Makefile reads.
    """
    given = other_tools.of_make(environ.get("MAKEFLAGS", ""))
    meant = list(dotenv()) + given
    problems = other_tools.refusals(environ, meant) + other_tools.unknown(given, known_settings() | set(own))
    for sentence in other_tools.unused(environ, meant):
        say(sentence)
    if problems:
        raise LaunchError(
            "\n  ".join(["What is set has no meaning here:"] + problems), "Correct it, or leave it out.", 2
        )


def _refuse_arguments(command, arguments, do):
    """For commands that take none."""
    if arguments:
        raise LaunchError(f"{command} takes no arguments, and got {' '.join(arguments)}.", do, code=2)


# Those of the launcher alone, and the two of the project's commands that need more here than to be run.
OWN: Dict[str, Tuple[Callable[[List[str], Mapping[str, str]], int], str]] = {
    "setup": (setup, "prepare the place to run in; --tests: the virtual environment that the tests use"),
    "detect": (detect, COMMANDS["detect"].text),
    "diff": (diff, COMMANDS["diff"].text),
    "adopt": (
        adopt,
        "describe TFRecords that you have: --records FILES --val FILES --label-map FILE [--test] [--out DIR]",
    ),
    "check": (check, "check the records of a dataset: FOLDER, mini-pets or pets"),
    "show": (show, "draw images of a dataset with their boxes: FOLDER, mini-pets or pets"),
    "config": (config, COMMANDS["config"].text),
    "dataset": (dataset, "convert your own images into data/NAME: --source DIR [--format NAME] [--out DIR]"),
    "data": (data, "prepare the dataset mini-pets or pets (PETS_DIR: a folder with the images)"),
    "tensorboard": (tensorboard, "show the curves of runs/ on 127.0.0.1:6006"),
    "python": (python, "run the virtual environment's Python"),
    "pytest": (pytest, "run tests in the virtual environment"),
    "lint": (lint, "run the checks of launcher/lint.py in the virtual environment"),
    "pin-base": (write_pin, "ask the registry for the digest of BASE_IMAGE and write it to .env"),
    "image-tests": (
        image_tests,
        "DIR: test the image; DIR/engine-up and DIR/base-image start an engine where none answers",
    ),
}


def usage() -> str:
    """What `python3 -m launcher --help` prints."""
    texts = {name: command.text for name, command in COMMANDS.items()}
    texts.update((name, text) for name, (_, text) in OWN.items())
    lines = ["usage: python3 -m launcher COMMAND", ""] + [f"  {name:<12} {texts[name]}" for name in sorted(texts)]
    return "\n".join(lines + ["", "RUN_IN=docker or RUN_IN=venv says where; otherwise it is found out."])


def run(name: str, arguments: List[str], environ: Mapping[str, str]) -> int:
    """Runs a command; returns its exit code, or becomes it."""
    if name in OWN:
        return OWN[name][0](arguments, environ)
    if COMMANDS[name].devices:
        return run_on_devices(name, arguments, environ)
    return run_without_devices(name, arguments, environ)


def find_place(environ: Mapping[str, str], gpus: Optional[int], command: Optional[str] = None) -> where.Place:
    """The Place to run a command in.

    Args:
        environ: the user's environment.
        gpus: how many there are, None when the command needs none.
        command: its name; only whether it is `eval` matters.

    Raises:
        LaunchError: there is nowhere to run, or not where RUN_IN says.
    """
    image = environ.get("BASE_IMAGE") or host.BASE_IMAGE

    def docker_problem() -> Optional[str]:
        uses_gpu = gpus is not None and gpus > 0 and where.wants_gpu(environ, gpus, command)
        needs_nvidia = uses_gpu and not environ.get("DOCKER_RUNTIME")
        # Services that use no GPU start without a runtime.
        runtime = "" if gpus is None else environ.get("DOCKER_RUNTIME") or ""
        return where.docker_problem(host.ask_docker(image), needs_nvidia, runtime)

    def venv_problem() -> Optional[str]:
        problem = where.platform_problem()
        if problem or environment.is_current(ROOT):
            return problem
        interpreter, reasons = host.find_python(environ)
        return None if interpreter else host.python_problem(reasons)

    return where.choose(environ.get("RUN_IN"), docker_problem, venv_problem)


def in_environment(environ: Mapping[str, str], arguments: List[str], extra: Optional[str] = None) -> "NoReturn":
    """Becomes the environment's Python, in the repository's folder.

    Args:
        environ: the user's environment.
        arguments: of Python.
        extra: one of environment.EXTRAS, whose packages have to be there.

    Raises:
        LaunchError: the environment cannot be made.
    """
    executable = environment.ensure(ROOT, environ, extra)
    environ = dict(environ)
    if environ.pop("PYTHONPATH", None):
        # It comes before site-packages: a checkout of the API in it would hide the patched one.
        say("PYTHONPATH is left out: what it names would hide the locked packages and the patched API.")
    environ.pop("PYTHONHOME", None)
    os.chdir(ROOT)
    become([executable] + arguments, environ)


def in_container(environ: Mapping[str, str], command: List[str], options: Sequence[str] = ()) -> int:
    """Builds the image where needed, then becomes `docker compose run` of the service `command[0]`.

    Args:
        environ: the user's environment, with the settings that were decided on.
        command: the service and its arguments.
        options: of `docker compose run`, beside those of every command.

    Returns:
        exit code of making the data, where that failed; else this process is compose.
    """
    environ = with_clone(environ)
    build_image(environ)
    environ["TFOD_IMAGE_ID"] = host.image_id(IMAGE)
    os.chdir(ROOT)
    # Without dependencies: compose would make the data too, but not show what went wrong there.
    run = ["docker", "compose", "--progress", "quiet", "run", "--rm", "--no-deps"] + host.as_built()
    if not sys.stdin.isatty():
        run.append("--no-TTY")
    for name in nearly_settings(environ):
        run += ["--env", name]
    if command[0] in NEED_DATA:
        code = subprocess.call(run + ["data"], env=environ)
        if code:
            return code
    become(run + list(options) + command, environ)


def nearly_settings(environ: Mapping[str, str]) -> List[str]:
    """Variables named almost like a setting, which the container has to see to refuse them (TRAINNER=clone).

    compose.yaml passes on only those it lists. .env.example lists those of the host too.
    """
    known = known_settings()
    return [name for name in sorted(environ) if name not in known and nearest(name.upper(), known, cutoff=0.85)]


def known_settings() -> Set[str]:
    """Names of all settings, of the host's too: those of compose.yaml and of .env.example."""
    known: Set[str] = set()
    for name, pattern in (("compose.yaml", r"^ +([A-Z][A-Z_]+):"), (".env.example", r"^#([A-Z][A-Z_]+)=")):
        with open(os.path.join(ROOT, name)) as source:
            known.update(re.findall(pattern, source.read(), flags=re.MULTILINE))
    return known


def with_clone(environ: Mapping[str, str]) -> Dict[str, str]:
    """`environ` with what compose.yaml cannot know.

    UID and GID, which shells do not export, as results belong to the user; and the commit and the version of this
    clone, which the image remembers.
    """
    environ = dict(environ)
    environ.setdefault("CODE_COMMIT", host.commit(ROOT))
    environ["CODE_VERSION"] = __version__
    environ.setdefault("UID", str(os.getuid()))
    environ.setdefault("GID", str(os.getgid()))
    return environ


def build_image(environ: Mapping[str, str]) -> None:
    """`docker compose build`, silent unless it fails: most of the time everything is in the cache.

    The image is named after its version too. Not by `tags` in compose.yaml, which would give this name to an image of
    another name as well.

    Raises:
        LaunchError: it cannot be built; with the last lines of the log.
    """
    path = os.path.join(ROOT, BUILD_LOG)
    say(f"Building the image (a few minutes the first time; details in {BUILD_LOG}).")
    with open(path, "wb") as log:
        run_logged = functools.partial(subprocess.call, cwd=ROOT, env=environ, stdout=log, stderr=subprocess.STDOUT)
        failed = run_logged(["docker", "compose", "build"])
        # A second name, which an image that compose was told to call otherwise does without.
        if not failed:
            run_logged(["docker", "tag", IMAGE, f"{IMAGE}:{__version__}"])
    if failed:
        raise LaunchError(
            f"The image could not be built; the last lines of {BUILD_LOG}:\n{environment.last_lines(path)}",
            "Correct what they name and run it again, or go without Docker: RUN_IN=venv.",
        )


def become(argv: List[str], environ: Mapping[str, str]) -> "NoReturn":
    """Gives this process's place to another program, found on the PATH."""
    sys.stdout.flush()
    os.execvpe(argv[0], argv, environ)


def with_dotenv(environ: Mapping[str, str]) -> Dict[str, str]:
    """`environ` completed from the file .env, which compose reads too: one file for both places."""
    return dict(dotenv(), **environ)


def dotenv() -> Dict[str, str]:
    """What the file .env sets; nothing where there is none."""
    try:
        with open(os.path.join(ROOT, ".env")) as source:
            lines = source.read().splitlines()
    except FileNotFoundError:
        return {}
    settings = {}
    for line in lines:
        assignment = re.match(r"\s*(?:export\s+)?(\w+)\s*=(.*)", line)
        if assignment:
            # As compose reads it: a comment begins with a # after a space.
            value = re.sub(r"(^|\s)#.*", "", assignment.group(2)).strip()
            settings[assignment.group(1)] = value.strip("\"'")
    return settings


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:], with_dotenv(os.environ)))
    except LaunchError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        sys.exit(error.code)
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
