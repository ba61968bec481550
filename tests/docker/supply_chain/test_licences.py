"""Licences are those that metadata names: by one rule, from the locked files and from what is installed."""

import glob
import json
import os
import re
import sys
from email.message import Message

import pytest


@pytest.fixture
def licences(script):
    return script("supply_chain/licences")


def about(**fields):
    message = Message()
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            message[name.replace("_", "-")] = value
    return message


APPROVED = "License :: OSI Approved"


@pytest.mark.parametrize(
    "fields, found",
    [
        ({"License_Expression": "MIT", "Classifier": APPROVED + " :: BSD License"}, {"expression": "MIT"}),
        ({"License": "BSD", "Classifier": [APPROVED, "Topic :: Software"]}, {"name": "BSD"}),
        (
            {"License": "Dual", "Classifier": [APPROVED + " :: BSD License", APPROVED + " :: Apache Software License"]},
            {"name": "BSD License / Apache Software License"},
        ),
        ({"License": "UNKNOWN"}, {}),
        ({"License": "Copyright (c) 2015\n  All rights reserved."}, {}),
        ({}, {}),
    ],
)
def test_only_what_metadata_names_counts(licences, fields, found):
    assert licences.licence(about(**fields)) == found


def test_a_package_that_names_none_is_told_so(licences):
    assert licences.words({}) == "unknown: its metadata names none"


def packages(root, python):
    with open(os.path.join(root, "docker", "locks", f"requirements-{python}.lock")) as file:
        return set(re.findall(r"^([a-z0-9][a-z0-9._-]*==[^\s;]+)", file.read(), re.MULTILINE))


def listed(licences):
    with open(licences.PATH) as file:
        return json.load(file)


def test_every_package_of_the_image_is_listed_and_no_other(root, licences):
    locked = [packages(root, python) for python in ("3.6", "3.7", "3.8")]
    assert all(locked) and set(listed(licences)) == set().union(*locked)


def test_the_list_is_what_the_installed_packages_say(root, licences):
    """Those of the environment these tests run in, from the lock of its Python."""
    locked = packages(root, "{}.{}".format(*sys.version_info))
    installed = {}
    site_packages = os.path.join(sys.prefix, "lib", "python3.*", "site-packages")
    for path in glob.glob(os.path.join(site_packages, "*.dist-info", "METADATA")):
        with open(path, encoding="utf-8", errors="replace") as file:
            about_it = licences.Parser().parse(file, headersonly=True)
        installed[licences.key(about_it["Name"], about_it["Version"])] = licences.licence(about_it)
    named = listed(licences)
    assert {name: installed.get(name) for name in locked} == {name: named[name] for name in locked}
