"""Relative links of the pages lead to files that are there, and to headings in them; docs/index.md has every page."""

import glob
import os
import re

import pytest

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages(project):
    named = [os.path.join(project, name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return named + sorted(glob.glob(os.path.join(project, "docs", "*.md")))


def text_of(path):
    """A page without its fenced blocks."""
    with open(path, encoding="utf-8") as page:
        return re.sub(r"^```.*?^```$", "", page.read(), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The anchors that GitHub gives the headings of a page."""
    found = []
    for heading in re.findall(r"^#+ +(.*?) *$", text_of(path), flags=re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", LINK.sub(lambda link: link.group().partition("]")[0], heading).lower())
        anchor = anchor.replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def broken(path):
    """The relative links of a page that lead nowhere."""
    for link in LINK.findall(text_of(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(target) or (anchor and anchor not in anchors(target)):
            yield link


def test_every_link_leads_somewhere(project_dir):
    found = pages(project_dir)
    assert sum(len(LINK.findall(text_of(path))) for path in found) > 50
    assert {os.path.relpath(path, project_dir): list(broken(path)) for path in found if list(broken(path))} == {}


def test_the_index_has_every_page(project_dir):
    linked = LINK.findall(text_of(os.path.join(project_dir, "docs", "index.md")))
    there = {os.path.basename(path) for path in glob.glob(os.path.join(project_dir, "docs", "*.md"))} - {"index.md"}
    assert there <= set(linked) and len(linked) == len(set(linked))


@pytest.mark.parametrize("link", ["none.md", "page.md#none", "#none", "sub/none.png"])
def test_a_link_that_leads_nowhere_is_found(link, tmp_path):
    (tmp_path / "page.md").write_text(
        f"# One `code` heading\n[good](#one-code-heading) [to]({link}) [web](https://a.b)\n"
    )
    assert list(broken(str(tmp_path / "page.md"))) == [link]
