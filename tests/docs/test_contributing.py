"""The examples of CONTRIBUTING.md work as they stand there."""

import ast
import io
import os
import re
import sys
from types import SimpleNamespace

import pytest

EXAMPLES = ("A command", "A dataset format", "A patch", "A trainer", "An observer", "A setting")
LOSSES = (1.0, 1.5, 0.5, 1.25, 1.0, 4.0, 4.0)


@pytest.fixture(scope="module")
def page(project_dir):
    with open(os.path.join(project_dir, "CONTRIBUTING.md"), encoding="utf-8") as source:
        return source.read()


@pytest.fixture(scope="module")
def blocks(page):
    """function(heading, kind) -> the texts of the fenced blocks of that kind below a heading."""

    def of(heading, kind="python"):
        section = re.split(r"^## ", page.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]
        return re.findall(rf"^```{kind}\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)

    return of


@pytest.fixture
def api_on_path(api_dir, monkeypatch):
    monkeypatch.syspath_prepend(api_dir)


def entry(line, **names):
    """What a line of one of the lists adds to it: a value, or {key: value}."""
    return eval(
        "{" + line.strip().rstrip(",") + "}" if re.match(r'\s*"\w+": ', line) else line.strip().rstrip(","), names
    )


def add_module(monkeypatch, package, folder, name, text):
    """Makes package.name of the text, as a file of the package's folder would."""
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", list(package.__path__) + [str(folder)])
    monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)


def test_every_example_has_its_blocks(blocks):
    assert [heading for heading in EXAMPLES if not blocks(heading, "(?:python|diff)")] == []
    for heading in EXAMPLES[:-1]:
        assert [ast.parse(text) for text in blocks(heading)[:1]], heading


def test_the_command_is_run_by_its_name(blocks, tmp_path, monkeypatch, capfd, api_on_path):
    import entrypoint
    from common import commands as list_of_commands
    from tfod_train import commands

    module, line = blocks("A command")
    add_module(monkeypatch, commands, tmp_path, "checkpoints", module)
    for name, command in entry(line, Command=list_of_commands.Command).items():
        monkeypatch.setitem(list_of_commands.COMMANDS, name, command)
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / "model.ckpt-7.index").write_bytes(b"torn")
    monkeypatch.setenv("RUN_DIR", str(run_dir))
    assert entrypoint.main(["checkpoints"]) == 0
    assert f"Checkpoint {run_dir}/model.ckpt-7 cannot be read" in capfd.readouterr().out
    assert entrypoint.main(["checkpoints", "all"]) == 2
    (recipe,), (service,) = blocks("A command", "make"), blocks("A command", "yaml")
    assert re.match(r"[a-z-]+:  ## ", recipe) and "run_as_owner.py, checkpoints]" in service


def test_the_format_converts_a_file_of_three_lines(blocks, encode, tmp_path, monkeypatch, capsys):
    from data_prep import formats
    from data_prep.__main__ import main
    from tests.data_prep.prepared import examples

    module, line = blocks("A dataset format")
    (boxes,) = blocks("A dataset format", "text")
    assert len(boxes.splitlines()) == 3
    add_module(monkeypatch, formats, tmp_path, "lines", module)
    monkeypatch.setattr(formats, "FORMATS", formats.FORMATS[:])
    formats.FORMATS.append(entry(line, Format=formats.Format))
    monkeypatch.setattr("data_prep.cli.FORMATS", formats.FORMATS)
    source = tmp_path / "source"
    source.mkdir()
    (source / "boxes.txt").write_text(boxes)
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (source / name).write_bytes(encode())
    command = ["lines", "--source", str(source), "--out", str(tmp_path / "mine")]
    assert main(command + ["--strict"]) == 0
    found = examples(tmp_path / "mine")
    assert {key: features["image/object/class/text"] for key, features in found.items()} == {
        "a.jpg": [b"dog"],
        "b.jpg": [b"cat"],
        "c.jpg": [b"dog"],
    }
    assert found["a.jpg"]["image/object/bbox/xmax"] == pytest.approx([0.5])
    capsys.readouterr()
    assert main(command) == 0 and "is ready" not in capsys.readouterr().out  # it is there
    (source / "boxes.txt").write_text(boxes.replace("20 15", "30 15"))
    assert main(command) == 0
    assert examples(tmp_path / "mine")["a.jpg"]["image/object/bbox/xmax"] == pytest.approx([0.75])
    assert main(["check", str(tmp_path / "mine")]) == 0


@pytest.fixture
def encode():
    """function() -> the bytes of a JPEG of 40 x 30."""
    from PIL import Image

    def image():
        out = io.BytesIO()
        Image.new("RGB", (40, 30), (200, 60, 60)).save(out, "JPEG")
        return out.getvalue()

    return image


def test_the_patch_is_the_one_it_names(blocks, project_dir):
    (text,) = blocks("A patch")
    name = re.search(r'name="(\w+)"', text).group(1)
    path = os.path.join(project_dir, "object_detection_patches", "patches", f"{name}.py")
    with open(path, encoding="utf-8") as source:
        assert source.read() == text


@pytest.mark.tensorflow
def test_the_trainer_can_be_chosen_and_loaded(blocks, tmp_path, monkeypatch, api_on_path):
    from tfod_train import trainer, trainers

    module, line = blocks("A trainer")
    add_module(monkeypatch, trainers, tmp_path, "one_device", module)
    ((name, added),) = entry(line, Trainer=trainer.Trainer).items()
    assert name == "one_device" and added.load().__module__ == "tfod_train.trainers.one_device"


@pytest.mark.tensorflow
def test_the_observer_is_told_of_each_step_through_plugins(blocks, tmp_path, monkeypatch, api_on_path):
    import tensorflow.compat.v1 as tf

    from tfod_train import observers
    from tfod_train.hooks.step import StepHook
    from tfod_train.observers.speed import Speed
    from tfod_train.process.console import Console
    from tfod_train.run import plugins
    from tfod_train.run.context import Run
    from tfod_train.run.run_dir import RunDir

    monkeypatch.setattr(observers, "OBSERVERS", [])
    plugin = tmp_path / "my_observer.py"
    plugin.write_text(blocks("An observer")[0], encoding="utf-8")
    plugins.check(str(plugin))
    plugins.load(str(plugin))
    terminal = io.StringIO()
    config = SimpleNamespace(train_config=SimpleNamespace(num_steps=len(LOSSES), batch_size=1))
    run = Run(None, None, None, None, config, [], RunDir(str(tmp_path)))
    training = observers.Training(run, Console(terminal), Speed(1, 0), None, None, None)
    with tf.Graph().as_default():
        losses = tf.data.Dataset.from_tensor_slices(list(LOSSES))
        loss = tf.data.make_one_shot_iterator(losses).get_next() * tf.get_variable("v", initializer=1.0)
        train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        with tf.train.MonitoredTrainingSession(hooks=[StepHook(observers.make(training), loss)]) as session:
            for _ in LOSSES:
                session.run(train)
    assert terminal.getvalue().splitlines() == [
        "The loss rose from 0.500 to 1.250 at step 4.",
        "The loss rose from 1.000 to 4.000 at step 6.",
    ]


def test_the_setting_changes_what_is_there(blocks, project_dir):
    (diff,) = blocks("A setting", "diff")
    parts = re.split(r"^--- a/.*\n\+\+\+ b/(.*)\n", diff, flags=re.MULTILINE)[1:]
    changed = dict(zip(parts[::2], parts[1::2]))
    assert len(changed) == 5
    for path, lines in changed.items():
        with open(os.path.join(project_dir, path), encoding="utf-8") as source:
            there = source.read().splitlines()
        before = [line[1:] for line in lines.splitlines() if line[0] in "- "]
        assert before and [line for line in before if line not in there] == [], path


@pytest.mark.parametrize("given, expected", [({}, 100), ({"SUMMARY_EVERY_STEPS": "10"}, 10)])
def test_the_setting_is_read(blocks, monkeypatch, given, expected):
    from tfod_train import settings

    (field,) = re.findall(r"^\+( +summary_every_steps: .*\n)", blocks("A setting", "diff")[0], flags=re.MULTILINE)
    names = dict(vars(settings))
    exec(f"class More(Settings):\n{field}", names)
    monkeypatch.setattr(settings, "Settings", names["More"])
    assert settings.read(given).summary_every_steps == expected
    with pytest.raises(settings.SettingsRefused, match="SUMMARY_EVERY_STEP=1: there is no such setting"):
        settings.read({"SUMMARY_EVERY_STEP": "1"})


def test_targets_and_markers_that_are_named_exist(page, project_dir):
    with open(os.path.join(project_dir, "Makefile"), encoding="utf-8") as makefile:
        targets = set(re.findall(r"^([a-z-]+):", makefile.read(), flags=re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", page))
    assert len(named) > 5 and named <= targets
    with open(os.path.join(project_dir, "pytest.ini"), encoding="utf-8") as settings:
        markers = set(re.findall(r"^    (\w+): ", settings.read(), flags=re.MULTILINE))
    table = page.partition("| marker | what |")[2].partition("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE))
    assert len(named) > 5 and named <= markers


def test_files_that_are_named_exist(page, project_dir):
    examples = {"data_prep/formats/lines.py"}
    examples |= set(re.findall(r"`(tfod_train/\w+/(?:checkpoints|one_device|loss_jumps)\.py)`", page))
    named = set(re.findall(r"`([\w./-]+/[\w.-]+\.\w+)`", page)) - examples
    assert len(named) > 5
    assert [path for path in sorted(named) if not os.path.exists(os.path.join(project_dir, path))] == []
