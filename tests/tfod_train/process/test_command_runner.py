"""How the ways a command can end become sentences and exit codes."""

import errno
import subprocess
import sys

import pytest

from common.errors import DataError, Refused
from tfod_train.process import command_runner


def ends(error, capfd):
    def command(settings, console):
        raise error

    code = command_runner.run(command, {})
    return code, capfd.readouterr().err


def test_a_refusal_is_two_sentences_and_its_code(capfd):
    assert ends(Refused("This is wrong.", "Do that.", 3), capfd) == (3, "This is wrong.\nDo that.\n")


def test_so_is_what_data_prep_finds_wrong(capfd):
    assert ends(DataError("This is damaged.", "Mend it."), capfd) == (3, "This is damaged.\nMend it.\n")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/runs/x"),
        RuntimeError("/runs/x/model.ckpt-2.data-00000-of-00001; No space left on device [Op:SaveV2]"),
    ],
)
def test_a_full_disk_is_called_one(error, capfd):
    code, text = ends(error, capfd)
    assert (code, text.startswith("The disk is full")) == (3, True)


@pytest.mark.parametrize(
    "error, sentence",
    [
        (MemoryError(), "Memory ran out on this machine or its GPU."),
        (RuntimeError("Dst tensor is not initialized."), "Memory ran out on this machine or its GPU."),
        (RuntimeError("CUDA_ERROR_OUT_OF_MEMORY on /device:GPU:1"), "Memory ran out on GPU:1."),
        (RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED"), "The GPU failed: CUBLAS_STATUS_NOT_INITIALIZED."),
    ],
)
def test_an_evaluation_that_finds_a_gpu_full_or_broken_says_so(error, sentence, capfd):
    code, text = ends(error, capfd)
    assert (code, text.splitlines()[0], len(text.splitlines())) == (3, sentence, 2)


def test_what_nobody_foresaw_is_one_line_and_says_where_more_is(capfd):
    code, text = ends(ValueError("several\nlines"), capfd)
    assert (code, text.splitlines()) == (
        1,
        ["ValueError: several lines", "This is an unexpected error; LOG_LEVEL=debug shows more."],
    )


def test_the_log_has_the_traceback_of_what_nobody_foresaw_and_debug_shows_it(tmp_path):
    """In a process of its own, whose descriptors the console points elsewhere."""
    program = (
        "import sys\n"
        "from tfod_train.process import command_runner\n"
        "def fails(settings, console):\n"
        "    console.capture(sys.argv[1])\n"
        "    raise ValueError('nobody foresaw')\n"
        "sys.exit(command_runner.run(fails, {'LOG_LEVEL': sys.argv[2]}))\n"
    )
    for level, lines in (("info", 0), ("debug", 1)):
        log = tmp_path / f"{level}.log"
        ended = subprocess.run(
            [sys.executable, "-c", program, str(log), level], stderr=subprocess.PIPE, universal_newlines=True
        )
        assert ended.returncode == 1 and "ValueError: nobody foresaw" in ended.stderr
        assert f"the traceback is in {log}" in ended.stderr
        assert ended.stderr.count("Traceback (most recent call last)") == lines
        assert "Traceback (most recent call last)" in log.read_text()
