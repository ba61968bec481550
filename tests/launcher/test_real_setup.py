"""The environment made for real, in a copy of the repository: with pip, the locks and the compiler."""

import os
import shutil
import subprocess
import sys
import time

import pytest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COPIED = ("launcher", "tfod_train", "common", "docker", "object_detection_patches", "Makefile")

pytestmark = [pytest.mark.nightly, pytest.mark.real_setup]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    root = tmp_path_factory.mktemp("clone")
    for name in COPIED:
        source, target = os.path.join(REPOSITORY, name), str(root / name)
        shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy(source, target)
    yield root
    shutil.rmtree(str(root))


def setup_command(clone):
    # Not a test's business: the variables that another make left behind.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return dict(
        args=[sys.executable, "-m", "launcher", "setup"],
        cwd=str(clone),
        env=dict(environ, RUN_IN="venv"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )


def test_a_setup_killed_while_it_installs_is_completed_by_the_next(clone):
    killed = subprocess.Popen(**setup_command(clone))
    site_packages = clone / ".venv" / "lib"
    deadline = time.time() + 300
    while not list(site_packages.glob("python3.*/site-packages/wrapt")):
        assert killed.poll() is None, killed.communicate()[0]
        assert time.time() < deadline
        time.sleep(0.1)
    killed.kill()
    done = subprocess.run(**setup_command(clone))
    killed.communicate()
    assert done.returncode == 0, done.stdout
    assert "waiting for it" in done.stdout
    assert done.stdout.splitlines()[-1] == "The virtual environment is ready."


def test_the_patched_api_is_imported_from_anywhere(clone, tmp_path):
    program = "import nets, object_detection as o; print(*o.__path__)"
    out = subprocess.check_output(
        [str(clone / ".venv" / "bin" / "python"), "-c", program], cwd=str(tmp_path), universal_newlines=True
    )
    assert out.strip() == str(clone / ".venv" / "api" / "object_detection")


def test_nothing_is_left_to_do_and_that_is_found_out_at_once(clone, cpu_secs):
    before = cpu_secs()
    done = subprocess.run(**setup_command(clone))
    assert cpu_secs() - before < 0.5
    assert done.stdout.splitlines() == [
        "Running in a virtual environment (RUN_IN=venv).",
        "The virtual environment is ready.",
    ]


def test_there_is_one_tensorflow_and_no_opencv(clone):
    packages = subprocess.check_output(
        [str(clone / ".venv" / "bin" / "python"), "-m", "pip", "list", "--format=freeze"], universal_newlines=True
    )
    names = [line.split("==")[0].lower() for line in packages.splitlines()]
    assert [name for name in names if name in ("tensorflow", "tensorflow-gpu", "lvis", "opencv-python")] == [
        "tensorflow-gpu"
    ]
