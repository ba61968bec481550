"""The bill of materials names what the locks install, and is CycloneDX."""

import json
import re
import subprocess
import sys

import pytest

from tfod_train import __version__


def printed(python, root):
    """What `make sbom` prints for a Python of the base."""
    return subprocess.check_output(
        ["make", "--silent", "sbom", f"PYTHON={sys.executable}", f"BASE_PYTHON={python}"], cwd=root
    )


@pytest.fixture(params=["3.6", "3.7", "3.8"])
def bill(request, root):
    out = printed(request.param, root)
    return request.param, json.loads(out.decode()), out


def test_every_package_of_the_lock_and_the_api_is_in_it_once(bill, root):
    python, document, _ = bill
    with open(f"{root}/docker/locks/requirements-{python}.lock") as file:
        locked = set(re.findall(r"^([a-z0-9][a-z0-9._-]*==\S+)", file.read(), re.MULTILINE))
    packages = [f"{each['name']}=={each['version']}" for each in document["components"] if "pypi" in each["purl"]]
    assert set(packages) == locked and len(packages) == len(locked)
    (api,) = [each for each in document["components"] if "pypi" not in each["purl"]]
    assert api["version"] == "170c71cc555d458d2c85775bca92f802238e4dab" and api["modified"] is True
    assert api["licenses"] == [{"license": {"id": "Apache-2.0"}}]


def test_it_says_which_version_of_the_project_it_is_of(bill):
    assert bill[1]["metadata"]["component"]["version"] == __version__


def test_every_package_has_the_licence_that_its_metadata_names(bill, root):
    _, document, _ = bill
    with open(f"{root}/docker/supply_chain/licences.json") as file:
        known = json.load(file)
    for each in document["components"]:
        licence = known.get("{name}=={version}".format(**each), {"id": "Apache-2.0"})
        assert licence and each["licenses"] == [licence if "expression" in licence else {"license": licence}], each


def test_a_package_whose_metadata_names_no_licence_has_none_and_is_named(script, monkeypatch, capsys):
    sbom = script("supply_chain/sbom")
    known = dict(sbom.licences(), **{"numpy==1.19.5": {}})
    monkeypatch.setattr(sbom, "licences", lambda: known)
    monkeypatch.setattr(sys, "argv", ["sbom.py"])
    sbom.main()
    out, err = capsys.readouterr()
    (numpy,) = [each for each in json.loads(out)["components"] if each["name"] == "numpy"]
    assert "licenses" not in numpy
    assert err == "numpy 1.19.5 names no licence in its metadata.\n"


def test_it_has_what_cyclonedx_1_4_asks_for(bill):
    """The required fields and patterns of its JSON schema."""
    _, document, _ = bill
    assert (document["bomFormat"], document["specVersion"], document["version"]) == ("CycloneDX", "1.4", 1)
    assert re.match(r"urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", document["serialNumber"])
    for each in document["components"] + [document["metadata"]["component"]]:
        assert each["type"] in ("library", "container") and each["name"]
        assert all(
            one["alg"] == "SHA-256" and re.match("[0-9a-f]{64}$", one["content"]) for one in each.get("hashes", [])
        )
    references = [each["bom-ref"] for each in document["components"]] + ["tfod-train"]
    assert len(references) == len(set(references))
    assert {one for each in document["dependencies"] for one in each["dependsOn"]} < set(references)


def test_the_same_locks_give_the_same_bill(bill, root):
    python, _, out = bill
    assert printed(python, root) == out
