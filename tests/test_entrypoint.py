"""The one way in: a command's name, and how little has to work for a sentence."""

import subprocess
import sys

import pytest

import entrypoint
from common import commands


def test_without_the_environment_entrypoint_names_the_way_to_it(project_dir):
    done = subprocess.run(
        [sys.executable, "-S", "-E", "entrypoint.py", "train"],
        cwd=project_dir,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert done.returncode == 3
    assert "is not installed" in done.stderr and "make train" in done.stderr and "Traceback" not in done.stderr


def test_without_a_command_every_one_is_listed(capsys):
    assert entrypoint.main([]) == 2
    shown = capsys.readouterr().out
    assert entrypoint.main(["--help"]) == 0 and capsys.readouterr().out == shown
    listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  ")]
    assert listed == sorted(commands.COMMANDS)


def test_a_misspelt_command_is_exit_code_2_and_the_nearest_is_named(capsys):
    assert entrypoint.main(["trian"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("There is no command trian. Did you mean train?") and "  train " in shown


def test_help_of_a_command_without_options_says_where_settings_are_and_runs_nothing(capsys, monkeypatch):
    monkeypatch.setitem(commands.COMMANDS, "train", commands.Command("train it", "nowhere:nothing"))
    assert entrypoint.main(["train", "--help"]) == 0
    assert capsys.readouterr().out == f"train: train it\n{entrypoint.SETTINGS}\n"


@pytest.mark.parametrize("code", [0, 4])
def test_a_command_gets_its_arguments_and_gives_the_exit_code(code, tmp_path, monkeypatch):
    (tmp_path / "one_command.py").write_text(
        "def do(settings, console, arguments):\n    assert settings.trainer == 'clone'\n    return int(arguments[0])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("TRAINER", "clone")
    monkeypatch.setitem(commands.COMMANDS, "one", commands.Command("", "one_command:do", options=True))
    assert entrypoint.main(["one", str(code)]) == code


@pytest.mark.parametrize("arguments, code", [(["--help"], 0), ([], 2), (["trian"], 2)])
def test_help_answers_at_once(arguments, code, project_dir, cpu_secs):
    before = cpu_secs()
    done = subprocess.run(
        [sys.executable, "entrypoint.py"] + arguments, cwd=project_dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == code
    assert b"usage: python entrypoint.py COMMAND" in done.stdout
    assert cpu_secs() - before < 1


@pytest.mark.parametrize("name", ["train", "eval", "report", "preflight", "data", "export", "detect"])
def test_every_command_has_its_help(name, project_dir):
    done = subprocess.run(
        [sys.executable, "entrypoint.py", name, "--help"],
        cwd=project_dir,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert name in done.stdout and len(done.stdout.splitlines()) >= 2
