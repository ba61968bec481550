"""The list of formats: a new one is one module and one line, and none is imported before it is asked for."""

import json
import subprocess
import sys

import pytest

from data_prep import formats
from data_prep.__main__ import main
from tests.data_prep.prepared import examples

TOY = formats.Format("toy", "convert a text file of boxes", "tests.data_prep.formats.toy_format")


@pytest.fixture
def toy(tmp_path, encode):
    """A folder that the toy format reads; the format is in the list."""
    formats.FORMATS.append(TOY)
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (tmp_path / name).write_bytes(encode())
    (tmp_path / "boxes.txt").write_text("a.jpg dog 4 3 20 15\nb.jpg cat 0 0 10 30\nc.jpg dog 8 6 40 24\n")
    yield tmp_path
    formats.FORMATS.remove(TOY)


def test_a_new_format_is_one_module_and_one_line(toy, tmp_path, capsys):
    out = tmp_path / "toys"
    assert main(["toy", "--source", str(toy), "--out", str(out), "--val-fraction", "0.4", "--strict"]) == 0
    found = examples(out)
    boxes = {
        key: [features[f"image/object/bbox/{side}"][0] for side in ("xmin", "ymin", "xmax", "ymax")]
        for key, features in found.items()
    }
    assert boxes == {
        "a.jpg": pytest.approx([0.1, 0.1, 0.5, 0.5]),
        "b.jpg": pytest.approx([0, 0, 0.25, 1]),
        "c.jpg": pytest.approx([0.2, 0.2, 1, 0.8]),
    }
    assert {key: features["image/object/class/text"] for key, features in found.items()} == {
        "a.jpg": [b"dog"],
        "b.jpg": [b"cat"],
        "c.jpg": [b"dog"],
    }
    description = json.loads((out / "dataset.json").read_text(encoding="utf-8"))
    assert (description["name"], description["classes"]) == ("toys", ["cat", "dog"])
    assert [description["splits"][split]["examples"] for split in ("train", "val")] == [1, 2]
    capsys.readouterr()
    assert main(["check", str(out)]) == 0
    assert "fit for training: 3 records" in capsys.readouterr().out


def test_its_options_are_its_own_and_those_of_all(toy, capsys):
    assert main(["toy", "--source", str(toy), "--out", "x", "--lines", "none.txt"]) == 3
    assert "none.txt" in capsys.readouterr().err
    assert main(["toy", "--source", str(toy), "--out", "x", "--shards", "0"]) == 2
    with pytest.raises(SystemExit):
        main(["toy", "--help"])
    text = capsys.readouterr().out
    assert all(option in text for option in ("--lines", "--seed", "--max-skipped", "--workers"))


def test_help_names_every_format_and_imports_none():
    code = (
        "import sys; from data_prep.__main__ import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for each in formats.FORMATS:
        assert f"    {each.name}" in [line[: len(each.name) + 4] for line in ended.stdout.decode().splitlines()]
    imported = ended.stderr.decode().split()
    assert "data_prep.formats" in imported
    assert not set(imported) & {"PIL", "numpy", "lxml", "google.protobuf", "requests"}
    assert not set(imported) & {each.module for each in formats.FORMATS}
