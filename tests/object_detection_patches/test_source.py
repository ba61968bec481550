"""Only the pinned package is unpacked, whole and unchanged, or nothing is."""

import hashlib
import os
import subprocess
import zipfile

import pytest

from object_detection_patches import source, tree
from object_detection_patches.errors import SourceError

PREFIX = "some_package-1.0.data/purelib/"


@pytest.fixture
def make_wheel(tmp_path, monkeypatch):
    """Writes a wheel with the given files and pins it, with a manifest that fits unless told otherwise."""

    def make(files, manifest=None, prefix=PREFIX):
        wheel = tmp_path / "some.whl"
        with zipfile.ZipFile(str(wheel), "w") as archive:
            archive.writestr("some_package-1.0.dist-info/METADATA", "Name: some\n")
            for path, text in files.items():
                archive.writestr(prefix + path, text)
        monkeypatch.setattr(source, "SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
        monkeypatch.setattr(
            source,
            "blob_ids",
            lambda: {path: source.blob_id(text.encode()) for path, text in (manifest or files).items()},
        )
        return str(wheel)

    return make


def test_a_blob_id_is_what_git_says(tmp_path):
    (tmp_path / "file").write_bytes(b"import this\n")
    expected = subprocess.check_output(["git", "hash-object", str(tmp_path / "file")]).decode().strip()
    assert source.blob_id(b"import this\n") == expected


def test_the_manifest_has_every_python_file_of_the_package():
    ids = source.blob_ids()
    assert len(ids) == 534
    assert ids["object_detection/model_lib.py"].startswith("c7fdce11")
    assert ids["deployment/model_deploy.py"].startswith("49128ec2")
    assert "object_detection/protos/pipeline_pb2.py" in ids
    assert "setup.py" not in ids


def test_the_packages_are_unpacked_and_nothing_else(make_wheel, tmp_path):
    wheel = make_wheel({"nets/__init__.py": "", "nets/net.py": "A = 1\n"})
    source.fetch(str(tmp_path / "new" / "api"), wheel)
    assert os.listdir(str(tmp_path / "new")) == ["api"]
    assert os.listdir(str(tmp_path / "new" / "api")) == ["nets"]
    assert (tmp_path / "new" / "api" / "nets" / "net.py").read_text() == "A = 1\n"


def test_a_wheel_with_another_hash_is_refused_by_name(make_wheel, tmp_path):
    wheel = make_wheel({"nets/net.py": "A = 1\n"})
    with open(wheel, "ab") as out:
        out.write(b"x")
    with pytest.raises(SourceError, match="some.whl has the sha256 .*Nothing was written"):
        source.fetch(str(tmp_path / "new" / "api"), wheel)
    assert os.listdir(str(tmp_path / "new")) == []


@pytest.mark.parametrize(
    "files, manifest, named",
    [
        ({"nets/net.py": "A = 2\n"}, {"nets/net.py": "A = 1\n"}, "nets/net.py"),
        ({"nets/net.py": ""}, {"nets/net.py": "", "nets/lost.py": ""}, "nets/lost.py"),
        ({"nets/net.py": "", "nets/more.py": ""}, {"nets/net.py": ""}, "nets/more.py"),
    ],
)
def test_a_changed_lost_or_added_file_is_refused_by_name(make_wheel, tmp_path, files, manifest, named):
    with pytest.raises(SourceError, match=named + " in the package is not the upstream file"):
        source.fetch(str(tmp_path / "new" / "api"), make_wheel(files, manifest))
    assert os.listdir(str(tmp_path / "new")) == []


@pytest.mark.parametrize("path", ["../out.py", "/etc/out.py", "nets/../../out.py", "nets\\out.py", "c:/out.py", "a//b"])
def test_a_path_that_leads_out_is_refused(make_wheel, tmp_path, path):
    with pytest.raises(SourceError, match="is not safe"):
        source.fetch(str(tmp_path / "new" / "api"), make_wheel({"nets/net.py": "", path: ""}))
    assert os.listdir(str(tmp_path / "new")) == []


def test_a_link_is_refused(tmp_path):
    link = zipfile.ZipInfo(PREFIX + "nets/link.py")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(str(tmp_path / "some.whl"), "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(SourceError, match="link.py in the wheel is not safe"):
        source.unpack(str(tmp_path / "some.whl"), str(tmp_path / "api"))


def test_a_file_that_is_no_wheel_is_refused(tmp_path):
    (tmp_path / "some.whl").write_bytes(b"<html>")
    with pytest.raises(SourceError, match="is not a wheel"):
        source.unpack(str(tmp_path / "some.whl"), str(tmp_path / "api"))


def test_a_failed_download_says_so_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "VERSION", "0.0.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(SourceError, match="pip could not download tf1-.* 0.0.0: .*--wheel"):
        source.fetch(str(tmp_path / "new" / "api"))
    assert os.listdir(str(tmp_path / "new")) == []


def test_the_package_is_upstream_file_by_file(pristine_api):
    assert source.changed_files(pristine_api) == []
    report = tree.verify(pristine_api)
    assert len(report.pristine) == 534 and not report.patched + report.outdated + report.foreign
