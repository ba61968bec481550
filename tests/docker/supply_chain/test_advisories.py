"""Advisories are told with the reason to stay; one that could be fixed and has none fails the job."""

import json
import os

import pytest

ISSUE = {"id": "PYSEC-1", "aliases": ["CVE-2022-1", "GHSA-x"], "fix_versions": ["9.0"]}


@pytest.fixture
def ask(script, tmp_path, capsys):
    """function(package, version, *vulns) -> (exit code, text)."""

    def run(name, version, *vulns):
        path = tmp_path / "audit.json"
        path.write_text(
            json.dumps(
                {
                    "dependencies": [
                        {"name": name, "version": version, "vulns": list(vulns)},
                        {"name": "skipped", "skip_reason": "x"},
                    ]
                }
            )
        )
        return script("supply_chain/advisories").main([str(path)]), capsys.readouterr().out

    return run


def test_an_old_version_with_a_reason_is_told_and_stays(ask):
    code, text = ask("pillow", "8.4.0", ISSUE)
    assert code == 0
    assert "| pillow | 8.4.0 | PYSEC-1, CVE-2022-1 | 9.0 | images; the last for Python 3.6 |" in text


def test_one_without_a_reason_fails_where_a_fix_exists(ask):
    code, text = ask("idna", "3.1", ISSUE)
    assert code == 1 and "**no reason is written**" in text
    assert ask("idna", "3.1", dict(ISSUE, fix_versions=[]))[0] == 0


def test_nothing_found_is_said(ask):
    assert ask("idna", "3.1") == (0, "No advisory is open for what is locked.\n")


def test_every_version_that_is_asked_for_has_a_reason(script, root):
    with open(os.path.join(root, "docker", "locks", "requirements.in")) as file:
        text = file.read()
    assert len(script("supply_chain/advisories").reasons(text)) == sum(1 for line in text.splitlines() if "==" in line)
