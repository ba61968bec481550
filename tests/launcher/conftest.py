"""A machine made of small shell scripts: the launcher sees only the commands that a test puts on its PATH."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys

import pytest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

GOOD_PYTHON = {
    "version": "3.7.16",
    "minor": "3.7",
    "cpython": True,
    "bits64": True,
    "glibc": True,
    "headers": True,
    "venv": True,
}

# Answers the questions, makes a "virtual environment" of itself, fails or waits where a file tells it to.
FAKE_PYTHON = """#!/bin/sh
echo "python $*" >>{calls}
if [ -e {fail} ]; then case "$*" in *"$(/bin/cat {fail})"*) echo "ERROR: no such package"; exit 1;; esac; fi
if [ -e {hold} ]; then case "$*" in *"$(/bin/cat {hold})"*)
  while [ -e {hold} ]; do /bin/sleep 0.05; done;;
esac; fi
case "$1 $2" in
  "-c "*ensurepip*) echo '{facts}';;
  "-m venv") /bin/mkdir -p $3/bin $3/lib/python{minor}/site-packages && /bin/cp "$0" $3/bin/python;;
  "-m object_detection_patches") [ $3 = fetch ] && /bin/mkdir -p $4/object_detection;;
  "entrypoint.py "*|"-m pytest"|"-m tensorboard.main"|"-m launcher.lint")
    echo "ran $* DEVICE=$DEVICE CUDA=${{CUDA_VISIBLE_DEVICES-unset}} PYTHONPATH=${{PYTHONPATH-unset}}"
    exit ${{EXIT_WITH:-0}};;
esac
exit 0
"""

FAKE_DOCKER = """#!/bin/sh
echo "docker $*" >>{calls}
case "$1 $2" in
  "info --format") {info};;
  "compose version") {compose};;
  "image inspect")
    case "$*" in *--format*) echo sha256:0123;; esac
    exit {image};;
  "manifest inspect") exit {manifest};;
  "compose build") echo "commit=$CODE_COMMIT version=$CODE_VERSION"; echo "step 7 failed: no space"; exit {build};;
  "compose run") echo "      --pull string    Pull image before running";;
  "compose --progress")
    case "$*" in *"--no-TTY data") exit {data};; esac
    echo "ran $* DEVICE=$DEVICE RUNTIME=$DOCKER_RUNTIME UID=$UID IMAGE=$TFOD_IMAGE_ID PETS_DIR=$PETS_DIR"
    exit ${{EXIT_WITH:-0}};;
esac
"""


class Machine:
    """A clone of the repository's launcher on a machine that has only what the test gives it."""

    def __init__(self, folder):
        self.root = folder / "clone"
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.calls_file = folder / "calls"
        self.fail_file = folder / "fail"
        self.hold_file = folder / "hold"
        for path in (self.bin, self.home, self.root / "docker" / "locks", self.root / "runs"):
            path.mkdir(parents=True)
        shutil.copytree(os.path.join(REPOSITORY, "launcher"), str(self.root / "launcher"))
        for room in ("common", os.path.join("tfod_train", "devices")):
            shutil.copytree(os.path.join(REPOSITORY, room), str(self.root / room))
        shutil.copy(os.path.join(REPOSITORY, "tfod_train", "__init__.py"), str(self.root / "tfod_train"))
        (self.root / ".env.example").write_text("#TRAINER=mirrored\n#RUN_IN=\n")
        (self.root / "compose.yaml").write_text("services:\n  train:\n    environment:\n      TRAINER:\n")
        for minor in ("3.6", "3.7"):
            for name in ("build", "tensorflow", "requirements", "test") + (("lint",) if minor == "3.7" else ()):
                (self.root / "docker" / "locks" / f"{name}-{minor}.lock").write_text("a==1\n")
        (self.root / "object_detection_patches").mkdir()
        self.patch = self.root / "object_detection_patches" / "patch.py"
        self.patch.write_text("edit = 1\n")
        self.add("gcc", "#!/bin/sh\n")

    def add(self, name, script, folder=None):
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def add_python(self, name="python3.7", folder=None, **facts):
        script = FAKE_PYTHON.format(
            calls=self.calls_file,
            fail=self.fail_file,
            hold=self.hold_file,
            facts=json.dumps(dict(GOOD_PYTHON, **facts)),
            minor=dict(GOOD_PYTHON, **facts)["minor"],
        )
        return self.add(name, script, folder)

    def add_docker(self, info="echo 24.0.7 runc nvidia", compose="echo 2.29.1", image=0, manifest=1, build=0, data=0):
        self.add(
            "docker",
            FAKE_DOCKER.format(
                calls=self.calls_file,
                info=info,
                compose=compose,
                image=image,
                manifest=manifest,
                build=build,
                data=data,
            ),
        )

    def add_gpus(self, number, *models):
        """Adds a driver that lists `number` T4, or one GPU of each of `models`: "NAME, MAJOR.MINOR"."""
        models = models or ("Tesla T4, 7.5",) * number
        names = [model.split(",")[0] for model in models]
        listed = "".join(f"echo 'GPU {i}: {name} (UUID: GPU-{i})'\n" for i, name in enumerate(names))
        asked = "".join(f"echo '{model}'\n" for model in models)
        self.add("nvidia-smi", f'#!/bin/sh\nif [ "$1" = -L ]; then\n{listed}else\n{asked}fi\n')

    def start(self, *arguments, **variables):
        environ = {"PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        environ.update(variables)
        return subprocess.Popen(
            [sys.executable, "-m", "launcher"] + list(arguments),
            cwd=str(self.root),
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            # Where the tests run in the background, SIGINT is ignored, and a process inherits that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *arguments, **variables):
        """Runs the launcher to its end; returns the process with `out`, `err` and `returncode`."""
        process = self.start(*arguments, **variables)
        process.out, process.err = process.communicate(timeout=60)
        return process

    def calls(self, beginning=""):
        if not self.calls_file.exists():
            return []
        return [line for line in self.calls_file.read_text().splitlines() if line.startswith(beginning)]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)
