"""The locks are complete, agree with each other, and name no index and nothing that stays out on purpose."""
import os
import re

import pytest

NAMES = ("requirements", "build", "tensorflow", "test")
PYTHONS = ("3.6", "3.7")


@pytest.fixture
def lock(root):
    """function(name, python) -> text of a lock."""
    def read(name, python):
        with open(os.path.join(root, "docker", "{}-{}.lock".format(name, python))) as file:
            return file.read()
    return read


def packages(text):
    """{name: version} of a lock."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("python", PYTHONS)
def test_the_locks_of_a_python_never_name_two_versions(lock, python):
    versions = {}
    for name in NAMES:
        for package, version in packages(lock(name, python)).items():
            assert versions.setdefault(package, version) == version, package


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", NAMES)
def test_every_package_has_a_hash_and_no_index_is_named(lock, name, python):
    text = lock(name, python)
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and "--index" not in text


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_lock_follows_its_list(root, lock, name, python):
    """A version changed in NAME.in and not locked again would be installed nowhere."""
    with open(os.path.join(root, "docker", name + ".in")) as file:
        wanted = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", file.read(), re.MULTILINE))
    locked = packages(lock(name, python))
    wanted = {package.lower(): version for package, version in wanted.items()}
    assert wanted and wanted.items() <= locked.items()


def test_lxml_has_its_wheels_for_new_and_for_old_glibc(lock):
    """The image's base has glibc 2.27 and takes manylinux2014; pip on newer hosts takes manylinux_2_28."""
    text = lock("requirements", "3.6")
    assert "c70e93fba207106cb16bf852e421c37bbded92acd5964390aad07cb50d60f5cf" in text
    assert "97dac543661e84a284502e0cf8a67b5c711b0ad5fb661d1bd505c02f8cf716d7" in text


@pytest.mark.parametrize("python", PYTHONS)
def test_lvis_and_opencv_and_a_second_tensorflow_stay_out_of_the_image(lock, python):
    for package in packages(lock("requirements", python)):
        assert not re.match("lvis|opencv|tensorflow", package)
