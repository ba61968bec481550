"""The command line: exit codes, two-sentence errors, quick help, runs that are killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from data_prep.__main__ import main
from data_prep.check import quick
from tests.data_prep.prepared import command, content


def test_help_is_there_at_once_and_names_the_commands(cpu_secs):
    before = cpu_secs()
    text = subprocess.run(command("--help"), check=True, stdout=subprocess.PIPE).stdout.decode()
    assert cpu_secs() - before < 1
    assert all(name in text for name in ("mini-pets", "pets", "check"))


def test_neither_the_command_line_nor_the_converter_imports_tensorflow():
    code = (
        "import sys, data_prep.__main__, data_prep.mini_pets.generate, common.download\n"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pets_are_converted_and_checked(raw, tmp_path, capsys):
    assert main(["pets", "--source", raw.root, "--out", str(tmp_path / "out"), "--shards", "3"]) == 0
    assert "train: 14 images with 14 boxes in 3 shards" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["pets", "--source", "/nowhere", "--out", "OUT"], 3, "/nowhere is not in Oxford-IIIT Pet's layout"),
        (["check", "/nowhere"], 3, "There is no file or folder /nowhere."),
        (["pets", "--source", "RAW", "--download", "--out", "OUT"], 2, "exclude each other"),
        (["pets", "--source", "RAW", "--out", "OUT", "--shards", "0"], 2, "count from 1"),
        (["pets", "--source", "RAW", "--out", "OUT", "--workers", "-1"], 2, "count from 1"),
        (["pets", "--source", "RAW", "--out", "OUT", "--max-skipped", "2"], 2, "between 0 and 1"),
        (["pets", "--source", "RAW", "--out", "RAW/annotations/trainval.txt"], 3, "File exists"),
        (["mini-pets", "--out", "/proc/nowhere"], 3, "/proc/nowhere: No such file"),
    ],
)
def test_an_error_is_one_sentence_what_and_one_what_to_do(raw, tmp_path, capsys, arguments, code, message):
    names = {"RAW": raw.root, "OUT": str(tmp_path / "out")}
    assert (
        main(
            [
                argument.replace("RAW", raw.root) if "RAW/" in argument else names.get(argument, argument)
                for argument in arguments
            ]
        )
        == code
    )
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 2 and message in lines[0] and lines[1].endswith(".")


@pytest.mark.parametrize("arguments", [[], ["dogs"], ["pets", "--boxes", "tails"], ["pets", "--shards", "many"]])
def test_arguments_that_do_not_exist_end_with_code_2(arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_and_run_again_it_ends_the_same(mini, tmp_path, seed):
    arguments = command("pets", "--source", mini / "raw", "--out", tmp_path / "out", "--workers", "2")
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.Random(seed).uniform(0.15, 0.7))
    process.send_signal(signal.SIGKILL)
    process.wait()
    if (tmp_path / "out" / "dataset.json").exists():
        assert quick.quick(str(tmp_path / "out")) == []
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        command("pets", "--source", mini / "raw", "--out", tmp_path / "calm"), check=True, stdout=subprocess.DEVNULL
    )
    assert content(tmp_path / "out") == content(tmp_path / "calm")


KILLED_AT = """if True:
    import os, signal, sys
    from data_prep.__main__ import main
    left, parent = int(sys.argv.pop(1)), os.getpid()
    def counted(call):
        def counting(*arguments):
            global left
            left -= os.getpid() == parent
            if left < 0:
                os.kill(parent, signal.SIGKILL)
            return call(*arguments)
        return counting
    os.replace, os.unlink = counted(os.replace), counted(os.unlink)
    sys.exit(main(sys.argv[1:]))
"""


def test_killed_before_any_renaming_or_removal_it_ends_the_same(raw, tmp_path):
    """The new dataset takes the place of one with other shards: every step of that can be the last."""

    def convert(out, shards, *killed):
        start = [sys.executable, "-c", KILLED_AT, killed[0]] if killed else command()
        return subprocess.run(
            start + ["pets", "--source", raw.root, "--out", str(out), "--shards", shards],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ).returncode

    assert convert(tmp_path / "calm", "3") == convert(tmp_path / "old", "2") == 0
    whole = {name: content(tmp_path / name) for name in ("calm", "old")}
    visible = {
        name: {file: data for file, data in files.items() if not file.startswith(".")} for name, files in whole.items()
    }
    steps = 0
    for steps in range(20):
        out = tmp_path / str(steps)
        shutil.copytree(str(tmp_path / "old"), str(out))
        code = convert(out, "3", str(steps))
        if code == 0:
            break
        assert code == -signal.SIGKILL
        there = {name: data for name, data in content(out).items() if not name.startswith(".")}
        # At first the list of names is written, in the end it is put in order.
        if steps in (0, 1, 14):
            assert there == visible["calm" if steps == 14 else "old"]
        else:
            assert "dataset.json" not in there
        assert convert(out, "3") == 0
        assert content(out) == whole["calm"]
    # dataset.json and four shards are removed, six shards, two files and twice the list renamed.
    assert steps == 5 + 8 + 2


@pytest.mark.parametrize(
    "arguments", [["--help"], ["pets", "--source", "RAW", "--out", "OUT", "--shards", "2"], ["check", "RECORDS"]]
)
def test_output_that_nobody_reads_is_no_fault_of_the_disk(raw, tmp_path, arguments):
    """As with `| head`: the reader has what it wanted and ends."""
    raw.image("pug_1", b"broken")
    names = {"RAW": raw.root, "OUT": str(tmp_path / "out"), "RECORDS": str(tmp_path / "a.record")}
    (tmp_path / "a.record").write_bytes(b"")
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        command(*(names.get(argument, argument) for argument in arguments)), stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"Stopped: nothing reads the output any more.\n")


def test_a_full_disk_below_the_output_is_told(raw):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command("check", "--help"), stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode != 0 and ended.stderr.startswith(
        b"A file could not be read or written: No space left on device.\n"
    )


def test_limits_and_force_are_those_of_the_command_line(raw, tmp_path, capsys):
    raw.image("pug_1", b"broken")

    def convert(*options):
        code = main(["pets", "--source", raw.root, "--out", str(tmp_path / "out"), "--shards", "2", *options])
        message = capsys.readouterr()
        return code, message.out + message.err

    code, message = convert()
    assert code == 3 and "1 of 20 images were skipped" in message and "more than the limit of 2 %" in message
    code, message = convert("--max-skipped", "0.05")
    assert code == 0 and "is ready in" in message
    code, message = convert("--max-skipped", "0.05", "--strict")
    assert code == 3 and "--strict allows none" in message
    code, message = convert("--max-skipped", "0.05")
    assert code == 0 and "is already complete" in message
    code, message = convert("--max-skipped", "0.05", "--force")
    assert code == 0 and "is ready in" in message
