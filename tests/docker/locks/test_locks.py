"""The locks are complete, agree with each other, and name no index and nothing that stays out on purpose."""

import os
import re

import pytest

# No ruff runs on Python 3.6. No registry has a TensorFlow 1.15 for Python 3.8: NVIDIA's image brings it, with the numpy
# and protobuf it needs.
NAMES = {
    "3.6": ("requirements", "build", "tensorflow", "test"),
    "3.7": ("requirements", "build", "tensorflow", "test", "lint"),
    "3.8": ("base", "requirements", "build", "test", "lint"),
}
PYTHONS = tuple(NAMES)
EVERY = [(name, python) for python in PYTHONS for name in NAMES[python]]


@pytest.fixture
def lock(root):
    """function(name, python) -> text of a lock."""

    def read(name, python):
        with open(os.path.join(root, "docker", "locks", f"{name}-{python}.lock")) as file:
            return file.read()

    return read


def packages(text):
    """{name: version} of a lock."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("python", PYTHONS)
def test_the_locks_of_a_python_never_name_two_versions(lock, python):
    versions = {}
    for name in NAMES[python]:
        for package, version in packages(lock(name, python)).items():
            assert versions.setdefault(package, version) == version, package


@pytest.mark.parametrize("name, python", EVERY)
def test_every_package_has_a_hash_and_no_index_is_named(lock, name, python):
    text = lock(name, python)
    entries = re.split(r"\n(?=[a-z0-9])", text)[1:]
    assert entries and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and "--index" not in text


@pytest.mark.parametrize("name, python", EVERY)
def test_a_lock_follows_its_list(root, lock, name, python):
    """A version changed in NAME.in and not locked again would be installed nowhere."""
    with open(os.path.join(root, "docker", "locks", name + ".in")) as file:
        lines = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", file.read(), re.MULTILINE)
    locked = packages(lock(name, python))
    from_base = packages(lock("base", python)) if python == "3.8" and name != "base" else {}
    wanted = {package.lower(): version for package, version in lines if package.lower() not in from_base}
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


def test_a_build_for_nvidias_image_leaves_its_tensorflow_numpy_and_protobuf_alone(lock):
    installed = set(packages(lock("requirements", "3.8"))) | set(packages(lock("build", "3.8")))
    assert not installed & {"numpy", "protobuf", "tensorflow", "tensorflow-gpu"}


def test_the_locks_beside_the_lists_are_those_and_no_other(root):
    found = os.listdir(os.path.join(root, "docker", "locks"))
    assert sorted(name for name in found if name.endswith(".lock")) == sorted(
        f"{name}-{python}.lock" for name, python in EVERY
    )


def test_python_3_8_needs_no_compiler(lock):
    assert "--no-binary" not in lock("requirements", "3.8")


def test_versions_are_kept_although_the_locks_have_headers(script):
    """The options on top of one lock belonged to the last package of the lock before it once."""
    text = "# Python 3.6\n--only-binary :all:\n\na==1 \\\n    --hash=sha256:0\n# Python 3.6\n--no-binary a,b\n\nb==2\n"
    assert script("locks/lock").split(text) == {"a": "a==1 \\\n    --hash=sha256:0\n", "b": "b==2\n"}
