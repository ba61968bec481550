"""The commands say what they did, and end with a code a script can use."""

import os
import subprocess
import sys

import pytest

from object_detection_patches import cli
from object_detection_patches.patches import PATCHES


def test_list_shows_every_patch_with_its_files(capsys):
    assert cli.main(["list"]) == 0
    out = capsys.readouterr().out
    for name in PATCHES:
        assert "\n" + name in out
    assert "object_detection/model_lib.py" in out


def test_list_why_shows_the_reasons_and_the_reports(capsys):
    assert cli.main(["list", "--why"]) == 0
    out = capsys.readouterr().out
    for fact in ("Symptom: ", "Cause: ", "What we do: ", "Files: "):
        assert out.count(fact) == len(PATCHES)
    assert "Reports: tensorflow/tensorflow#27392" in out


@pytest.mark.parametrize("arguments", [["list"], ["docs"], ["--help"], ["apply", "--help"]])
def test_help_and_list_do_without_what_is_slow_to_import(arguments):
    code = (
        "import sys; sys.modules.update(libcst=None, tensorflow=None, numpy=None)\n"
        f"from object_detection_patches import cli; sys.exit(cli.main({arguments!r}))"
    )
    assert b"usage" in subprocess.check_output([sys.executable, "-c", code]).lower() or arguments in (
        ["list"],
        ["docs"],
    )


def test_apply_verify_and_diff_work_together(small_tree, capsys):
    assert cli.main(["apply", str(small_tree)]) == 0
    assert "wrote object_detection/model_lib.py" in capsys.readouterr().out
    assert cli.main(["apply", str(small_tree)]) == 0
    assert capsys.readouterr().out.endswith(f"holds {len(PATCHES)} patches, as before\n")
    assert cli.main(["verify", str(small_tree)]) == 3
    out = capsys.readouterr().out
    assert "patched   object_detection/model_lib.py" in out
    assert "foreign   object_detection/core" not in out and "missing   object_detection/core/model.py" in out


def test_diff_prints_what_one_patch_changes(small_tree, capfdbinary):
    assert cli.main(["diff", str(small_tree), "--only", "clone_devices_on_cpu"]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert out.count("\n+++ ") == 1
    assert "\n+    return '/device:CPU:%d' % clone_index\n" in out


def test_a_wrong_name_ends_with_2_and_changes_nothing(small_tree, content, capsys):
    before = content(small_tree)
    assert cli.main(["apply", str(small_tree), "--without", "lvis"]) == 2
    assert capsys.readouterr().err.startswith("error: There is no patch 'lvis'. ")
    assert content(small_tree) == before


def test_a_tree_that_does_not_fit_ends_with_3(small_tree, capsys):
    (small_tree / "object_detection" / "model_lib.py").write_text("")
    assert cli.main(["apply", str(small_tree)]) == 3
    assert "saver_under_strategy" in capsys.readouterr().err


def test_fetch_does_not_overwrite_a_folder_with_other_files(small_tree, content, capsys):
    before = content(small_tree)
    assert cli.main(["fetch", str(small_tree)]) == 3
    assert "is already there" in capsys.readouterr().err
    assert content(small_tree) == before


def test_fetch_leaves_a_tree_of_the_pinned_api_as_it_is(api_dir, capsys):
    assert cli.main(["fetch", api_dir]) == 0
    assert "already holds" in capsys.readouterr().out


def test_a_patched_tree_verifies(api_dir, capsys):
    assert cli.main(["verify", api_dir]) == 0
    assert "0 patched by another version, 0 foreign" in capsys.readouterr().out


def test_fetch_leaves_a_folder_without_the_api_and_asks_for_another(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert cli.main(["fetch", str(tmp_path)]) == 3
    assert capsys.readouterr().err == (
        f"error: {tmp_path} holds other files, and not the API. Name a new or an empty folder.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["diff", "TREE"]])
def test_output_that_nobody_reads_ends_the_command_without_a_word(small_tree, arguments):
    """As with `| head`: the reader has what it wanted and ends."""
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "object_detection_patches"]
        + [argument.replace("TREE", str(small_tree)) for argument in arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_full_disk_is_told_without_a_file_of_no_name():
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "object_detection_patches", "list"], stdout=full, stderr=subprocess.PIPE
        )
    assert ended.returncode != 0 and ended.stderr.startswith(
        b"error: No space left on device. Correct that and run the same command again.\n"
    )
