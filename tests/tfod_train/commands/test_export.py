"""`entrypoint.py export`: what its arguments mean; ../export has what is written."""

import io

import pytest

from tfod_train.commands import export as command
from tfod_train.process.console import Console


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """function(*arguments) -> (exit code, what is said, (run, checkpoint), (settings, out, with TFLite))."""
    for name in ("model.tflite", "frozen_inference_graph.pb"):
        (tmp_path / name).write_bytes(b"")

    def run(settings, *arguments):
        seen = {}

        def choose(run_dir, checkpoint):
            seen["chosen"] = (str(run_dir), checkpoint)
            return "chosen"

        def write(chosen, settings, console, out, with_tflite):
            assert chosen == "chosen"
            seen["written"] = (settings, out, with_tflite)
            return str(tmp_path)

        monkeypatch.setattr(command.exporting, "choose", choose)
        monkeypatch.setattr(command.exporting, "write", write)
        monkeypatch.setattr(command.StopRequest, "install", lambda self: None)
        terminal = io.StringIO()
        code = command.export(settings, Console(terminal), list(arguments))
        return code, terminal.getvalue(), seen["chosen"], seen["written"]

    return run


def test_without_arguments_the_exporter_decides(asked, read_settings, tmp_path):
    settings = read_settings(RUN_DIR="runs/mine")
    assert asked(settings) == (
        0,
        f"Exported to {tmp_path}: frozen_inference_graph.pb, model.tflite.\n",
        ("runs/mine", None),
        (settings, None, True),
    )


def test_what_is_named_is_taken(asked, read_settings):
    settings = read_settings(RUN_DIR="runs/mine")
    _, _, chosen, written = asked(settings, "--checkpoint", "newest", "--out", "exported", "--no-tflite")
    assert (chosen, written) == (("runs/mine", "newest"), (settings, "exported", False))


def test_an_option_that_is_none_is_exit_code_2(asked, read_settings, capsys):
    with pytest.raises(SystemExit) as stopped:
        asked(read_settings(), "--tflite-only")
    assert stopped.value.code == 2 and "--tflite-only" in capsys.readouterr().err
