"""Everything up to TensorFlow works on Python 3.8, NVIDIA's last TensorFlow 1 image's; no registry has the rest.

tests/image builds the Dockerfile's first stages on a base with Python 3.8.
"""

import glob
import hashlib
import os
import shutil
import subprocess
import sys

import pytest

from tests.docker.conftest import ROOT

pytestmark = [pytest.mark.nightly, pytest.mark.python_3_8]


def find_python():
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(glob.glob(os.path.join(root, "versions", "3.8.*", "bin", "python")))
    return found[-1] if found else shutil.which("python3.8")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment with the locks for 3.8 and stand-ins for the base's numpy and protobuf."""
    if find_python() is None:
        pytest.skip("there is no Python 3.8 on this machine")
    folder = tmp_path_factory.mktemp("python38")
    subprocess.check_call([find_python(), "-m", "venv", str(folder)])
    program = str(folder / "bin" / "python")
    locks = os.path.join(ROOT, "docker", "locks")
    for names in (["build"], ["base", "requirements"]):
        command = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command.append("--require-hashes")
        for name in names:
            command += ["--requirement", os.path.join(locks, name + "-3.8.lock")]
        subprocess.check_call(command)
    yield program
    shutil.rmtree(str(folder))


@pytest.fixture
def ask(python, root):
    """function(*arguments, **environ) -> the finished process, run with 3.8 in the repository."""

    def run(*arguments, **environ):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return subprocess.run(
            [python] + list(arguments),
            cwd=root,
            env=dict(kept, **environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        )

    return run


def test_the_locks_install_and_no_package_misses_or_contradicts_another(ask):
    done = ask("-m", "pip", "--disable-pip-version-check", "check")
    assert (done.returncode, done.stdout) == (0, "No broken requirements found.\n")


def test_every_package_of_the_import_check_imports(ask):
    done = ask(
        "-c",
        "import import_check, importlib\nfor name in import_check.WITHOUT_TENSORFLOW: importlib.import_module(name)",
        PYTHONPATH="docker",
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_every_module_of_ours_imports_but_for_tensorflow(ask):
    program = (
        "import glob, importlib\n"
        "count = 0\n"
        "rooms = ('common', 'tfod_train', 'data_prep', 'object_detection_patches')\n"
        "paths = [path for room in rooms for path in glob.glob(room + '/**/*.py', recursive=True)]\n"
        "for path in sorted(paths) + ['entrypoint.py']:\n"
        "    if path.startswith('object_detection_patches/added/'): continue\n"
        "    if path.endswith('__main__.py'): continue\n"
        "    try:\n"
        "        importlib.import_module(path[:-3].replace('/', '.'))\n"
        "        count += 1\n"
        "    except ModuleNotFoundError as missing:\n"
        "        if missing.name.split('.')[0] not in ('tensorflow', 'tf_slim', 'object_detection'): raise\n"
        "print(count)\n"
    )
    done = ask("-W", "error::SyntaxWarning", "-c", program)
    assert done.returncode == 0, done.stdout
    # Of some 190; those that need TensorFlow or the API, at first hand or not, are left out.
    assert int(done.stdout) > 120


def test_all_patches_apply_and_give_what_they_give_on_this_python(ask, tmp_path):
    """3.6 is that of the image, whose build and tests apply and verify them too."""
    digests = []
    for run in (
        ask,
        lambda *arguments: subprocess.run(
            [sys.executable] + list(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        ),
    ):
        folder = str(tmp_path / str(len(digests)))
        for command in ("fetch", "verify", "apply", "verify"):
            done = run("-m", "object_detection_patches", command, folder)
            assert done.returncode == 0, done.stdout
        found = {}
        for path in glob.glob(os.path.join(folder, "**", "*.py"), recursive=True):
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
        digests.append(found)
    assert len(digests[0]) > 500 and digests[0] == digests[1]
    # The generated protos load on the protobuf that stands in for the base's.
    done = ask("-c", "from object_detection.protos import pipeline_pb2", PYTHONPATH=str(tmp_path / "0"))
    assert (done.returncode, done.stdout) == (0, "")
    # With it, every command gets as far as TensorFlow, and says so.
    done = ask("entrypoint.py", "preflight", DEVICE="cpu", DATA_DIR=str(tmp_path), PYTHONPATH=str(tmp_path / "0"))
    assert done.returncode == 3, done.stdout
    assert "tensorflow cannot be imported." in " ".join(done.stdout.replace("│", " ").split())
