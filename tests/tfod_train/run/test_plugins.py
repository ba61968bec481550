"""PLUGINS: a user's own module gets in after TensorFlow, by name or as a file, or is refused with its own words."""

import json
import sys

import pytest

from common.errors import Refused
from tfod_train.run import plugins
from tfod_train.run.run_dir import RunDir


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """function(name, text) -> path of a plug-in; what it adds to sys.modules goes with the test."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    def write(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_names_are_separated_by_commas_and_blanks_mean_nothing():
    assert plugins.names(" a.b , c/d.py,") == ["a.b", "c/d.py"]
    assert plugins.names(None) == plugins.names("") == []


@pytest.mark.parametrize("name", ["no_such_module", "no.such.module", "no/such/file.py", "json.", ".json"])
def test_one_that_is_not_there_is_refused_before_tensorflow_is_loaded(name):
    with pytest.raises(Refused) as refused:
        plugins.check("json, " + name)
    assert refused.value.code == 2 and f"PLUGINS={name} is not there." == refused.value.what


def test_a_file_is_imported_once_however_often_it_is_loaded(plugin):
    path = plugin("counts.py", "import sys\nsys.counted = getattr(sys, 'counted', 0) + 1\n")
    try:
        plugins.check(path)
        assert not hasattr(sys, "counted")
        plugins.load(path)
        plugins.load(path + ", json")
        assert sys.counted == 1
    finally:
        del sys.counted


def test_two_files_of_one_name_are_two_plug_ins(plugin, tmp_path):
    from tfod_train import observers

    before = list(observers.OBSERVERS)
    (tmp_path / "other").mkdir()
    text = "from tfod_train import observers\nobservers.OBSERVERS.append({0!r})\n"
    try:
        plugins.load(",".join([plugin("same.py", text.format("one")), plugin("other/same.py", text.format("two"))]))
        assert observers.OBSERVERS == before + ["one", "two"]
    finally:
        observers.OBSERVERS[:] = before


def test_what_a_plug_in_ends_with_is_named(plugin):
    path = plugin("broken.py", "raise ValueError('no such layer')\n")
    with pytest.raises(Refused) as refused:
        plugins.load(path)
    assert refused.value.what == f"PLUGINS={path} ends with ValueError: no such layer."


def test_a_run_remembers_what_its_model_needs(tmp_path):
    run_dir = RunDir(str(tmp_path))
    assert plugins.of_run(None, run_dir) is None
    (tmp_path / "run.json").write_text(json.dumps({"settings": {"plugins": "mine"}}))
    assert (plugins.of_run(None, run_dir), plugins.of_run("other", run_dir)) == ("mine", "other")
    (tmp_path / "run.json").write_text(json.dumps({"settings": {}}))  # as before there were plug-ins
    assert plugins.of_run(None, run_dir) is None
