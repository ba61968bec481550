"""Every layer that the image adds to its base, file by file: nothing in it but what runs, no secret, no cache.

A file that a later layer removes is still in the image for whoever saves it, so the layers themselves are read.
"""

import json
import os
import re
import tarfile

import pytest

from tests.image.containers import NOT_FOR_THE_IMAGE, ROOT, SECRET

pytestmark = pytest.mark.image

# etc is the bare folder, which a build touches where it mounts its name server's address.
PLACES = re.compile(r"(opt(/tfod-train(/.*)?)?|data|runs|tmp(/cuda-cache)?|configs|etc)/?$")
STRAY_NAMES = re.compile(
    # What tools keep beside or for themselves: caches, histories, credentials, package lists.
    r"(^|/)(\.cache|\.env[^/]*|\.git[^/]*|\.netrc|\.npmrc|\.pypirc|pip\.conf|\.ssh|\.docker|\.hypothesis"
    r"|\.pytest_cache|\.venv|id_(rsa|dsa|ecdsa|ed25519)|\.[a-z]+_history|\.DS_Store|direct_url\.json"
    r"|\.wh\.[^/]*)(/|$)"
    r"|(^|/)(var/lib/apt|var/cache|root)(/|$)"
    # What builds leave: archives of packages, locks, logs, keys.
    r"|\.(pem|key|p12|whl|lock|log|tmp|swp|orig|rej)$"
)
# Private keys, and forms of tokens that their makers made to be found: each with its beginning, for which 300 MB
# are searched in a tenth of the time.
LETTERS = "[A-Za-z0-9]{36}"
STRAY_CONTENT = [
    (beginning.encode(), re.compile((re.escape(beginning) + rest).encode()))
    for beginning, rest in (
        (SECRET, ""),
        ("-----BEGIN ", "[A-Z ]*PRIVATE KEY-----"),
        ("AKIA", r"[0-9A-Z]{16}\b"),
        ("ghp_", LETTERS),
        ("gho_", LETTERS),
        ("ghs_", LETTERS),
        ("npm_", LETTERS),
        ("glpat-", r"[\w-]{20}"),
        ("xoxb-", r"[\w-]{10}"),
        ("xoxp-", r"[\w-]{10}"),
        ("pypi-AgE", r"[\w-]{50}"),
        ("AIza", r"[\w-]{35}"),
    )
]
# A list of public certificate authorities.
PUBLIC = ("certifi/cacert.pem",)


@pytest.fixture(scope="module")
def layers(engine, image, tmp_path_factory):
    """[{name: content, None for what is no file}] of each layer on top of the base, the lowest first."""
    base = engine.images.get(image.labels["org.opencontainers.image.base.name"])
    path = tmp_path_factory.mktemp("saved") / "image.tar"
    with open(str(path), "wb") as file:
        for chunk in image.save(chunk_size=2**22):
            file.write(chunk)
    found = []
    with tarfile.open(str(path)) as saved:
        listed = json.loads(saved.extractfile("manifest.json").read().decode())[0]["Layers"]
        below = len(base.attrs["RootFS"]["Layers"])
        assert image.attrs["RootFS"]["Layers"][:below] == base.attrs["RootFS"]["Layers"]
        for name in listed[below:]:
            with tarfile.open(fileobj=saved.extractfile(name)) as layer:
                found.append({each.name: layer.extractfile(each).read() if each.isfile() else None for each in layer})
    path.unlink()
    assert len(found) == len(image.attrs["RootFS"]["Layers"]) - below
    return found


def has_secret(content):
    return any(beginning in content and whole.search(content) for beginning, whole in STRAY_CONTENT)


def names(layers):
    return [name for layer in layers for name in layer]


def test_layers_are_in_their_places_and_take_nothing_of_the_base_away(layers):
    assert len(names(layers)) > 5000
    assert [name for name in names(layers) if not PLACES.match(name)] == []


def test_no_layer_has_a_name_of_a_cache_a_log_or_a_credential(layers):
    assert [name for name in names(layers) if STRAY_NAMES.search(name) and not name.endswith(PUBLIC)] == []


def test_what_is_installed_is_what_the_lock_names_and_no_build_tool(layers):
    """pip, Cython, setuptools and the folder in which packages are compiled stay in the stage that needs them."""
    told = re.compile(r"opt/tfod-train/venv/lib/python3\.\d/site-packages/([^/]+)-[^-/]+\.dist-info/METADATA$")
    installed = {
        match.group(1).replace("_", "-").replace(".", "-").lower() for match in map(told.match, names(layers)) if match
    }
    with open(os.path.join(ROOT, "docker", "locks", "requirements-3.6.lock")) as file:
        locked = re.findall(r"^([a-z0-9][a-z0-9._-]*)==", file.read(), re.MULTILINE)
    assert installed == set(locked)


def test_no_file_of_any_layer_has_a_secret_in_it(layers, clone):
    """Among them what make_clone puts into .env and others, and the folder of the clone."""
    here = str(clone).encode()
    assert [
        name
        for layer in layers
        for name, content in layer.items()
        if content and (has_secret(content) or here in content)
    ] == []


def test_the_search_would_find_what_must_not_be_there():
    assert all(
        STRAY_NAMES.search(name)
        for name in (
            "opt/tfod-train/.env",
            "root/.cache/pip/http/a",
            "opt/.git/config",
            "var/lib/apt/lists/x",
            "opt/a.whl",
            "opt/tfod-train/.wh.secret",
        )
    )
    assert has_secret(("# " + SECRET).encode()) and has_secret(b"x -----BEGIN RSA PRIVATE KEY-----")
    assert has_secret(b"token = ghp_" + b"a1" * 18) and not has_secret(b"the prefix ghp_ of tokens")
    assert not any(PLACES.match(name) for name in ("root/.cache", "etc/passwd", "tmp/pip-build", "usr/bin/pip"))


def test_what_people_have_in_a_clone_was_there_and_did_not_get_into_the_image(layers, clone):
    for name in NOT_FOR_THE_IMAGE:
        with open(f"{clone}/{name}") as file:
            assert SECRET in file.read()
    mine = {name for name in names(layers) if not re.search(r"/(venv|api)/", name)}
    assert not [name for name in mine if name.startswith("opt/tfod-train/") and "secret" in name]


def test_each_pyc_is_that_of_a_source_beside_it(layers):
    """Compiled once, in the build: it is what makes starting quick, and no other cache is kept."""
    for layer in layers:
        compiled = [
            re.match(r"(.*/)__pycache__/([^/]+)\.cpython-3\d\.pyc$", name) for name in layer if name.endswith(".pyc")
        ]
        assert None not in compiled
        assert [match.group() for match in compiled if f"{match.group(1)}{match.group(2)}.py" not in layer] == []


def test_the_config_and_the_history_tell_no_secret(image, engine):
    told = json.dumps([image.attrs["Config"], image.history()])
    assert not has_secret(told.encode())
    assert not re.search(r"(?i)(passw|secret|token|api_?key|://[^/\s]+@)", told)
