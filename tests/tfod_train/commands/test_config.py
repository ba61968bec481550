"""`entrypoint.py config` writes a config for a dataset, and over nobody's file."""

import io
import os

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def make(mini, tmp_path, read_settings):
    """function(*arguments) -> (exit code, what was said)."""
    from tfod_train.commands import config
    from tfod_train.process.console import Console

    def run(*arguments):
        said = io.StringIO()
        settings = read_settings(DATASET=str(mini), DEVICE="cpu", DATA_DIR=str(tmp_path))
        return config.make(settings, Console(said), list(arguments)), said.getvalue()

    return run


def test_it_writes_the_file_and_says_what_it_decided(make, tmp_path):
    from tfod_train.config import pipeline

    path = str(tmp_path / "mine.config")
    code, said = make("--out", path)
    assert code == 0 and f"PIPELINE_CONFIG={path} make train" in said and "usual anchors" in said
    assert pipeline.parse(path).model.ssd.num_classes == 3
    before = os.stat(path)
    assert make("--out", path)[0] == 0 and os.stat(path).st_ino == before.st_ino


def test_a_file_that_says_something_else_stays(make, tmp_path):
    path = tmp_path / "mine.config"
    path.write_text("mine")
    with pytest.raises(Refused) as refused:
        make("--out", str(path))
    assert refused.value.code == 2 and path.read_text() == "mine"


@pytest.mark.parametrize("out, what", [("{}", "is a folder"), ("{}/none/x.config", "is not a folder")])
def test_a_place_that_is_none_is_refused(out, what, make, tmp_path):
    with pytest.raises(Refused, match=what):
        make("--out", out.format(tmp_path))


def test_an_unknown_model_is_refused_before_anything_is_read(make):
    with pytest.raises(Refused, match="MODEL=yolo"):
        make("--model", "yolo")
