"""Draws docs/architecture.png from the imports in the code: the rooms, and which room imports which.

    .venv/bin/python docs/draw_architecture.py

Rooms stand in layers, and a room imports from the layers below its own. An arrow that follows from others is left out:
`commands` imports `preflight` and `preflight` imports `run`, so no arrow leads from `commands` to `run`. Rooms of a
layer with the same arrows share a box.
"""

import ast
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Set, Tuple

Edge = Tuple[str, str]

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(PROJECT, "docs", "architecture.png")
PACKAGES = ("common", "data_prep", "launcher", "object_detection_patches", "tfod_train")
# From top to bottom; {room: where its box is, from left to right}. A room is a folder of tfod_train or another package;
# `settings` is tfod_train/settings.py and tfod_train/trainer.py.
LAYERS: Tuple[Dict[str, float], ...] = (
    {"commands": 3.6},
    {"trainers": 0.8, "evaluation": 3.6, "export": 3.6, "report": 3.6, "preflight": 6.0},
    {"hooks": 0.8},
    {"observers": 0.8, "fitted_config": 6.0},
    {"process": 1.6, "run": 4.8},
    {"launcher": 0.4, "config": 3.9},
    {"devices": 0.7, "settings": 2.4, "checkpoints": 3.9, "object_detection_patches": 5.9},
    {"data_prep": 3.9},
    {"common": 3.9},
)


def rooms() -> List[str]:
    """All rooms, from top to bottom."""
    return [room for layer in LAYERS for room in layer]


def layer_of() -> Dict[str, int]:
    """{room: its layer, 0 on top}."""
    return {room: number for number, layer in enumerate(LAYERS) for room in layer}


def imports(in_data_prep: bool = False) -> Set[Edge]:
    """(importing room, imported room) of every import of a room by another, also inside functions.

    Args:
        in_data_prep: also between the folders of data_prep, which are rooms of their own then (`data_prep/images`).
    """
    found = set()
    for package in PACKAGES:
        for folder, folders, files in os.walk(os.path.join(PROJECT, package)):
            folders[:] = [name for name in folders if name != "added"]  # that is code of the API
            for path in (os.path.join(folder, name) for name in files if name.endswith(".py")):
                module = os.path.relpath(path[: -len(".py")], PROJECT).replace(os.sep, ".")
                importing = room_of(module, in_data_prep)
                found |= {(importing, room_of(other, in_data_prep)) for other in _imported(path)}
    return {(one, other) for one, other in found if one and other and one != other}


def room_of(module: str, in_data_prep: bool = False) -> str:
    """The room of a module by its dotted name; "" for one that is in none."""
    package, _, rest = module.partition(".")
    name = rest.partition(".")[0]
    if package == "tfod_train":
        return name if _is_folder(package, name) else "settings" if name in ("settings", "trainer") else ""
    if package == "data_prep" and in_data_prep:
        return f"{package}/{name}" if _is_folder(package, name) else package if name in ("__main__", "cli") else ""
    return package if package in PACKAGES else ""


def _is_folder(package, name):
    return name != "" and os.path.isdir(os.path.join(PROJECT, package, name))


def _imported(path: str) -> Iterator[str]:
    """Dotted names of what a file imports: a.b for `from a import b`. What only types need does not count."""
    with open(path, encoding="utf-8") as source:
        waiting: List[ast.AST] = [ast.parse(source.read())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            waiting += ast.iter_child_nodes(node)


def without_what_follows(edges: Set[Edge]) -> Set[Edge]:
    """The edges less those that lead where several others lead, too."""
    steps = {one: {other for start, other in edges if start == one} for one in rooms()}
    return {
        (one, other) for one, other in edges if not any(other in _reached(between, steps) for between in steps[one])
    }


def _reached(start: str, steps: Dict[str, Set[str]]) -> Set[str]:
    """All rooms that one edge or more leads to."""
    found: Set[str] = set()
    waiting = {start}
    while waiting:
        waiting = set().union(*(steps[room] for room in waiting)) - found
        found |= waiting
    return found


def as_text(edges: Set[Edge]) -> str:
    """What the file says of itself in its metadata, so that a test can tell whether it is up to date."""
    return ", ".join(f"{one} imports {other}" for one, other in sorted(edges))


class Box(NamedTuple):
    """Rooms that are drawn as one; x and y of its middle, half of its width."""

    rooms: Tuple[str, ...]
    x: float
    y: float
    half: float


def boxes(edges: Set[Edge]) -> List[Box]:
    """A box for each room, one for those of a layer that have the same edges."""
    found = []
    for number, layer in enumerate(LAYERS):
        alike: Dict[Any, List[str]] = {}
        for room in layer:
            into = frozenset(one for one, other in edges if other == room)
            out = frozenset(other for one, other in edges if one == room)
            alike.setdefault((into, out, layer[room]), []).append(room)
        for (_, _, x), names in alike.items():
            half = 0.16 + 0.041 * len(_label(names))
            found.append(Box(tuple(names), x, len(LAYERS) - 1 - number, half))
    return found


def _label(names):
    return ",  ".join(names)


def draw(edges: Set[Edge], file: str) -> None:
    """Draws the edges.

    Args:
        edges: as without_what_follows gives them.
        file: of the PNG.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8.0, 7.0), dpi=100, facecolor="white")
    all_boxes = boxes(edges)
    for box in all_boxes:
        _draw_box(axes, box)
    by_room = {room: box for box in all_boxes for room in box.rooms}
    for one, other in sorted({(by_room[one], by_room[other]) for one, other in edges}):
        _draw_arrow(axes, one, other)
    axes.set_xlim(-0.2, 7.2)
    axes.set_ylim(-0.4, len(LAYERS) - 0.6)
    axes.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    figure.savefig(file, facecolor="white", metadata={"Description": as_text(edges), "Software": None})
    pyplot.close(figure)


def _draw_box(axes, box):
    from matplotlib.patches import FancyBboxPatch

    outside = set(box.rooms) & set(PACKAGES)  # not of tfod_train
    axes.add_patch(
        FancyBboxPatch(
            (box.x - box.half, box.y - 0.2),
            2 * box.half,
            0.4,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor="#e8eef7" if not outside else "#f6ecd9",
            edgecolor="#33475b",
        )
    )
    axes.text(box.x, box.y, _label(box.rooms), ha="center", va="center", fontsize=10, color="#111111")


def _draw_arrow(axes, one, other):
    axes.annotate(
        "",
        xy=(other.x + _towards(other, one), other.y + 0.2),
        xytext=(one.x + _towards(one, other), one.y - 0.2),
        arrowprops=dict(arrowstyle="-|>", color="#33475b", linewidth=1.1, shrinkA=0, shrinkB=0),
    )


def _towards(box, other):
    """How far from the middle of a box an arrow to or from another one begins."""
    return max(-0.6, min(0.6, (other.x - box.x) / 4)) * min(1.0, 1.2 * box.half)


if __name__ == "__main__":
    draw(without_what_follows(imports()), FILE)
