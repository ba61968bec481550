"""The figures of the layout: `python -m tests.layout` prints them, test_layout.py holds them to their limits.

Everything is read from the syntax trees; nothing of the project is imported.
"""

import ast
import glob
import os
import statistics
from typing import Dict, Iterator, List, NamedTuple, Set, Tuple

from common.project import PROJECT_DIR

# Rooms from the top down: each may import what stands below it. The rooms of one line know nothing of each other.
FLOORS = (
    ("entrypoint",),
    ("tfod_train.commands",),
    ("tfod_train.trainers",),
    ("tfod_train.hooks", "tfod_train.evaluation", "tfod_train.export", "tfod_train.report", "tfod_train.preflight"),
    ("tfod_train.observers", "tfod_train.fitted_config"),
    ("tfod_train.run",),
    ("tfod_train.config", "tfod_train.process"),
    ("tfod_train.devices", "tfod_train.checkpoints"),
    ("tfod_train.settings",),
    ("tfod_train.trainer",),
    ("data_prep", "object_detection_patches"),
    ("common", "tfod_train"),
)
# The launcher stands beside them: it runs before anything is installed.
OF_LAUNCHER = ("common", "tfod_train.devices.gpus", "tfod_train")
ROOMS = ("common", "data_prep", "launcher", "object_detection_patches", "tfod_train")
PARTS_OF_A_RUN = {
    "settings",
    "devices",
    "dataset",
    "config",
    "config_path",
    "changes",
    "folder",
    "run_dir",
    "start_step",
}


class Function(NamedTuple):
    """lines: of its whole text. arguments: names, without self. annotated: every argument and what it returns is."""

    where: str
    lines: int
    arguments: List[str]
    public: bool
    annotated: bool


def modules() -> Dict[str, str]:
    """Path by dotted name, of the entrypoint and all rooms but what is added to the API."""
    paths = [
        path for room in ROOMS for path in glob.glob(os.path.join(PROJECT_DIR, room, "**", "*.py"), recursive=True)
    ]
    paths = [os.path.relpath(path, PROJECT_DIR) for path in paths] + ["entrypoint.py"]
    named = {path[:-3].replace(os.sep, "."): path for path in paths if "added" not in path.split(os.sep)}
    return {name[: -len(".__init__")] if name.endswith(".__init__") else name: path for name, path in named.items()}


def parsed(path: str) -> ast.Module:
    with open(os.path.join(PROJECT_DIR, path), encoding="utf-8") as source:
        return ast.parse(source.read())


def imports() -> Set[Tuple[str, str]]:
    """(module, module that it imports), also where a function does it; of ours only."""
    known = modules()
    found = set()
    for name, path in known.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                found.update((name, alias.name) for alias in node.names if alias.name in known)
            elif isinstance(node, ast.ImportFrom) and node.module in known:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                found.update((name, other) for other in (inner & set(known)) or {node.module})
    return found


def floor(module: str) -> int:
    """The number of a module's floor, 0 on top; the longest name that fits counts."""
    fitting = [
        (len(room), number)
        for number, rooms in enumerate(FLOORS)
        for room in rooms
        if module == room or (module + ".").startswith(room + ".")
    ]
    return max(fitting)[1]


def room(module: str) -> str:
    rooms = [name for rooms in FLOORS for name in rooms if (module + ".").startswith(name + ".")]
    return max(rooms, key=len, default=module.split(".")[0])


def wrong_arrows() -> List[str]:
    """Imports that go up, or to a neighbour of the same floor."""
    found = []
    for one, other in sorted(imports()):
        if one.startswith("launcher"):
            fits = other.startswith("launcher") or other in OF_LAUNCHER or other.startswith("common.")
        else:
            fits = room(one) == room(other) or floor(one) < floor(other)
        if not fits:
            found.append(f"{one} -> {other}")
    return found


def circles() -> List[List[str]]:
    """Groups of modules that import each other round (Tarjan's strongly connected components of two and more)."""
    after: Dict[str, List[str]] = {name: [] for name in modules()}
    for one, other in imports():
        after[one].append(other)
    numbers: Dict[str, int] = {}
    low: Dict[str, int] = {}
    stack: List[str] = []
    found: List[List[str]] = []

    def visit(name: str) -> None:
        numbers[name] = low[name] = len(numbers)
        stack.append(name)
        for other in after[name]:
            if other not in numbers:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == numbers[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(after):
        if name not in numbers:
            visit(name)
    return found


def folders() -> Dict[str, int]:
    """How many modules each folder holds, without the __init__.py that says what it is."""
    counts: Dict[str, int] = {}
    for path in modules().values():
        folder, name = os.path.split(path)
        if folder and name != "__init__.py":
            counts[folder] = counts.get(folder, 0) + 1
    return counts


def file_of_tests(path: str) -> str:
    """Where the tests of a module are looked for."""
    folder, name = os.path.split(path)
    return os.path.join("tests", folder, f"test_{name}")


def tested_modules() -> List[str]:
    """Paths of the modules that have a test file of their name, or should: all but those that are called by no name."""
    return sorted(path for path in modules().values() if not os.path.basename(path).startswith("__"))


def without_test_file() -> List[str]:
    """Those of tested_modules without one."""
    return [path for path in tested_modules() if not os.path.isfile(os.path.join(PROJECT_DIR, file_of_tests(path)))]


def functions() -> Iterator[Function]:
    for path in modules().values():
        yield from _functions_in(path, parsed(path), True)


def _functions_in(path: str, parent: ast.AST, public: bool) -> Iterator[Function]:
    """public: what is directly in `parent` can be used from elsewhere: it is a module or a public class."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.FunctionDef):
            yield _function(path, node, public and not node.name.startswith("_"))
            yield from _functions_in(path, node, False)
        elif isinstance(node, ast.ClassDef):
            yield from _functions_in(path, node, public and not node.name.startswith("_"))
        else:
            yield from _functions_in(path, node, public)


def _function(path: str, node: ast.FunctionDef, public: bool) -> Function:
    arguments = [one for one in node.args.args + node.args.kwonlyargs if one.arg not in ("self", "cls")]
    last = max(getattr(inner, "lineno", node.lineno) for inner in ast.walk(node))
    return Function(
        f"{path}:{node.lineno} {node.name}",
        last - node.lineno + 1,
        [one.arg for one in arguments],
        public,
        all(one.annotation for one in arguments) and (node.returns is not None or node.name == "__init__"),
    )


def several_parts_of_a_run() -> List[Function]:
    """Functions of tfod_train that take three or more parts of a run instead of the Run."""
    return [
        one
        for one in functions()
        if one.where.startswith("tfod_train") and len(PARTS_OF_A_RUN & set(one.arguments)) >= 3
    ]


def main() -> None:
    """Prints the figures."""
    every = list(functions())
    public = [one for one in every if one.public]
    longest, most = max(every, key=lambda one: one.lines), max(every, key=lambda one: len(one.arguments))
    largest = max(folders().items(), key=lambda one: one[1])
    annotated = sum(one.annotated for one in public)
    print(f"modules: {len(modules())}; the largest folder: {largest[0]}, {largest[1]} files")
    tested = len(tested_modules())
    print(f"{tested - len(without_test_file())} of {tested} modules have a test file of their name")
    print(f"circles of imports: {len(circles())}; imports against the direction: {len(wrong_arrows())}")
    print(f"functions: {len(every)}; median {statistics.median(one.lines for one in every):.0f} lines")
    print(f"the longest: {longest.where}, {longest.lines} lines; most arguments: {most.where}, {len(most.arguments)}")
    print(f"public functions that are annotated: {annotated} of {len(public)}")
    print(f"functions that take three or more parts of a run: {len(several_parts_of_a_run())}")


if __name__ == "__main__":
    main()
