"""docs/architecture.md names every room, says what it may import, and shows a drawing that is up to date."""

import importlib.util
import os
import re

import pytest
from PIL import Image

NO_ROOMS = ("__pycache__",)


@pytest.fixture(scope="module")
def draw_architecture(project_dir):
    path = os.path.join(project_dir, "docs", "draw_architecture.py")
    spec = importlib.util.spec_from_file_location("draw_architecture", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(project_dir):
    with open(os.path.join(project_dir, "docs", "architecture.md"), encoding="utf-8") as source:
        return source.read()


@pytest.fixture(scope="module")
def table(page):
    """{room: names in the last column} of the table of rooms."""
    section = page.partition("## The rooms")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {
        re.match(r" `(?:tfod_train/)?([\w/]+?)/?`", row[0]).group(1): re.findall(r"`([\w/]+)`", row[2]) for row in rows
    }


def reached(start, table):
    """Every room that one may import: those of its row, and what they may."""
    found, waiting = set(), set(table[start])
    while waiting:
        found |= waiting
        waiting = {name for room in waiting for name in table[room]} - found
    return found


def test_every_folder_is_in_the_table(table, project_dir):
    folders = {
        name if package == "tfod_train" else f"{package}/{name}"
        for package in ("tfod_train", "data_prep")
        for name in os.listdir(os.path.join(project_dir, package))
        if os.path.isdir(os.path.join(project_dir, package, name)) and name not in NO_ROOMS
    }
    assert len(folders) > 15
    assert folders - set(table) == set()


def test_the_table_names_rooms_alone(table, draw_architecture):
    assert {name for row in table.values() for name in row} <= set(table)
    assert {room for room in table if not room.startswith("data_prep/")} == set(draw_architecture.rooms())


def test_a_room_imports_what_the_table_says(table, draw_architecture):
    edges = draw_architecture.imports(in_data_prep=True)
    assert len(edges) > 60
    assert [(one, other) for one, other in sorted(edges) if other not in reached(one, table)] == []


def test_imports_go_down(draw_architecture):
    layer = draw_architecture.layer_of()
    edges = draw_architecture.imports()
    assert [edge for edge in edges if layer[edge[0]] >= layer[edge[1]]] == []


def test_no_room_may_import_itself_by_way_of_others(table):
    assert [room for room in table if room in reached(room, table)] == []


def test_an_arrow_that_follows_from_others_is_left_out(draw_architecture):
    edges = {("commands", "run"), ("run", "common"), ("commands", "common"), ("hooks", "observers")}
    assert draw_architecture.without_what_follows(edges) == edges - {("commands", "common")}


def test_the_drawing_shows_the_imports_of_today(draw_architecture, project_dir):
    with Image.open(os.path.join(project_dir, "docs", "architecture.png")) as drawing:
        drawn = drawing.text["Description"]
    today = draw_architecture.as_text(draw_architecture.without_what_follows(draw_architecture.imports()))
    assert drawn == today, "python docs/draw_architecture.py"


def test_the_command_draws_it(draw_architecture, tmp_path):
    edges = {("commands", "run"), ("hooks", "observers")}
    draw_architecture.draw(edges, str(tmp_path / "drawn.png"))
    with Image.open(str(tmp_path / "drawn.png")) as drawing:
        assert drawing.text["Description"] == "commands imports run, hooks imports observers"
        assert drawing.convert("RGB").getpixel((0, 0)) == (255, 255, 255)  # readable on a dark page


def test_objects_and_files_that_are_named_are_there(page, project_dir):
    section = page.partition("## What travels")[2]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    assert len(rows) > 5
    for names, path, _ in rows:
        with open(os.path.join(project_dir, path.strip(" `")), encoding="utf-8") as source:
            text = source.read()
        assert [name for name in re.findall(r"`(\w+)`", names) if f"\nclass {name}(" not in text] == [], path
    files = set(re.findall(r"`([\w/]+\.py)`", page))
    roots = [os.path.join(project_dir, *root) for root in ((), ("tfod_train",), ("tfod_train", "evaluation"))]
    roots.append(os.path.join(project_dir, "data_prep"))
    assert len(files) > 15
    assert [name for name in sorted(files) if not any(os.path.isfile(os.path.join(root, name)) for root in roots)] == []
