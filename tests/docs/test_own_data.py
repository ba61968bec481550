"""Every command of docs/own-data.md is run, in its order, by the real make, on a drawn set in place of the photos."""

import os
import re
import shutil
import subprocess

import pytest

from common.project import PROJECT_DIR
from tests import cells

pytestmark = [pytest.mark.training, pytest.mark.long]

# So that it takes minutes: the page's commands are for hours.
QUICK = {
    "NUM_STEPS": "4",
    "BATCH_SIZE": "2",
    "NUM_GPUS": "1",
    "DEVICE": "cpu",
    "RUN_IN": "venv",
    "KEEP_CHECKPOINTS": "1",
}
# After four steps all scores are alike, and which boxes suppress which hangs on the last digit.
QUICK["CONFIG_OVERRIDE"] = "model { ssd { post_processing { batch_non_max_suppression { score_threshold: 0.95 } } } }"


def commands():
    with open(os.path.join(PROJECT_DIR, "docs", "own-data.md"), encoding="utf-8") as page:
        blocks = re.findall(r"```sh\n(.*?)```", page.read(), flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what is tracked or new here, with this environment, so that the page's data/ and runs/ are its own."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=PROJECT_DIR, universal_newlines=True
    )
    for name in filter(None, listed.splitlines()):
        source = os.path.join(PROJECT_DIR, name)
        if os.path.isfile(source):
            os.makedirs(str(folder / os.path.dirname(name)), exist_ok=True)
            shutil.copy(source, str(folder / name))
    os.symlink(os.path.join(PROJECT_DIR, ".venv"), str(folder / ".venv"))
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    for number, name in enumerate(("photos", "photos-2")):
        cells.draw(folder / name, 12, seed=number)
    cells.draw(folder / "others", 4, seed=9)
    held_out = folder / "photos" / "test"
    shutil.copytree(str(folder / "others" / "train"), str(held_out))
    shutil.copy(str(held_out / "train000.jpg"), str(held_out / "new.jpg"))
    return folder


def test_the_page_leads_from_images_to_a_model(clone, home):
    environ = dict(os.environ, HOME=str(home), **QUICK)
    for line in commands():
        done = subprocess.run(
            ["bash", "-c", line], cwd=str(clone), env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert done.returncode == 0, f"{line}\n{done.stdout.decode('utf-8', 'replace')}"
    assert (clone / "data" / "mine" / "contact-sheet.png").exists() and (
        clone / "runs" / "mine" / "report.html"
    ).exists()
    assert (clone / "runs" / "mine" / "eval" / "test_metrics.json").exists()
    assert os.listdir(str(clone / "runs" / "mine" / "export" / "final")) and os.listdir(
        str(clone / "runs" / "mine" / "found")
    )


def test_every_target_on_the_page_is_in_the_makefile():
    with open(os.path.join(PROJECT_DIR, "Makefile"), encoding="utf-8") as makefile:
        targets = set(re.findall(r"^([a-z-]+):", makefile.read(), flags=re.MULTILINE))
    assert {line.split()[1] for line in commands()} <= targets
