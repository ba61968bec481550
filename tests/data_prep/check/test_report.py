"""What the command `check` shows and ends with."""

import json
import os
import subprocess
import sys

import pytest

from data_prep.__main__ import main
from tests.data_prep.foreign_records import example, write


def test_exit_codes_tables_and_json(tmp_path, capsys, label_map):
    sound = write(tmp_path / "sound.record", example(0, labels=[1, 2], boxes=[(0, 0, 1, 1)] * 2))
    bad = write(tmp_path / "bad.record", example(0, boxes=[(4, 6, 20, 27)]), example(1))
    assert main(["check", sound, "--label-map", label_map]) == 0
    assert "is fit for training: 1 record, no errors, 0 warnings." in capsys.readouterr().out
    assert main(["check", bad]) == 3
    message = capsys.readouterr()
    assert "in pixels" in message.out and "bad.record @ byte 0" in message.out and "Divide x by" in message.out
    assert len(message.err.strip().splitlines()) == 2 and "not fit for training" in message.err
    assert main(["check", bad, "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["fit"], report["findings"][0]["kind"], report["records"]) == (False, "box-in-pixels", 2)
    assert main(["check", str(tmp_path / "*.record"), "--json", "--input-size", "20"]) == 3
    assert json.loads(capsys.readouterr().out)["records"] == 3


def test_names_that_the_terminal_cannot_show_do_not_end_the_check(tmp_path):
    path = write(tmp_path / "a.record", example(0, source_id=["\u732b\x1b[31m\n.jpg"], width=[30]))
    done = subprocess.run(
        [sys.executable, "-m", "data_prep", "check", path],
        stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONIOENCODING="ascii"),
    )
    assert done.returncode == 0 and b"\\u732b" in done.stdout and b"\x1b" not in done.stdout


def test_warnings_alone_leave_exit_code_0(tmp_path, capsys):
    assert main(["check", write(tmp_path / "a.record", example(0, width=[30]))]) == 0
    assert "no errors, 1 warning." in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["OUT/nothing.record"], 3, "no file or folder"),
        (["OUT/a.recor"], 3, "Did you mean OUT/a.record?"),
        (["OUT/*.tfrecord"], 3, "No file matches"),
        (["OUT/empty"], 3, "holds no TFRecord files"),
        (["OUT/a.record", "--label-map", "OUT/none.pbtxt"], 2, "No such file"),
        (["OUT/a.record", "--label-map", "OUT/a.record"], 2, "no label map"),
        (["OUT/a.record", "--num-classes", "0"], 2, "no number of classes"),
        (["OUT/a.record", "--input-size", "big"], 2, "is no size"),
        (["OUT/a.record", "--decode", "-1"], 2, "neither a number nor all"),
        (["OUT/a.record", "--config", "OUT/none.config"], 2, "No such file"),
        (["OUT/a.record", "--config", "OUT/a.record"], 2, "is no pipeline config"),
    ],
)
def test_what_cannot_be_checked_is_refused_with_what_to_do(tmp_path, capsys, arguments, code, message):
    write(tmp_path / "a.record", example(0))
    (tmp_path / "empty").mkdir()
    assert main(["check"] + [argument.replace("OUT", str(tmp_path)) for argument in arguments]) == code
    lines = capsys.readouterr().err.strip().splitlines()
    assert message.replace("OUT", str(tmp_path)) in " ".join(lines) and lines[-1][-1] in ".?"
