"""CSV files with a line a box, as labelImg's scripts, TensorFlow's tutorials, RetinaNet, AutoML and Open Images write.

Columns are known by their names; without a heading they are RetinaNet's: path, x1, y1, x2, y2, class. Open Images gives
shares of the image's sides and class codes, which its class-descriptions file names.
"""

import collections
import csv
import io
import os
import posixpath
from argparse import ArgumentParser
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from data_prep.images.boxes import Box
from data_prep.source import arguments, planning
from data_prep.source.annotation import Annotation, Object, whole
from data_prep.source.image_index import visible_files
from data_prep.source.reading import Entry, Problem, Reading, entry, need, number, of_files, refuse_no_folder, text_of
from data_prep.source.splits import of_path, of_word
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("csv", "csv")
_COLUMNS = {
    "image": (
        "filename",
        "file_name",
        "file",
        "image",
        "image_path",
        "imagepath",
        "path",
        "imageid",
        "image_id",
        "img",
    ),
    "class": ("class", "label", "name", "class_name", "labelname", "category", "classname"),
    "xmin": ("xmin", "x_min", "x1", "left"),
    "ymin": ("ymin", "y_min", "y1", "top"),
    "xmax": ("xmax", "x_max", "x2", "right"),
    "ymax": ("ymax", "y_max", "y2", "bottom"),
    "width": ("width", "img_width", "image_width"),
    "height": ("height", "img_height", "image_height"),
    "split": ("split", "set", "subset"),
}
_NEEDED = ("image", "class", "xmin", "ymin", "xmax", "ymax")
_RETINANET = {"image": 0, "xmin": 1, "ymin": 2, "xmax": 3, "ymax": 4, "class": 5}
_OPEN_IMAGES = "imageid"
_CODE = "/m/"
_DESCRIPTIONS = "class-descriptions"


class Table(NamedTuple):
    """name: of the file. columns: {what: place}. rows: (line, fields). shares: coordinates are shares of the sides."""

    name: str
    columns: Dict[str, int]
    rows: List[Tuple[int, List[str]]]
    shares: bool


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep csv`."""
    arguments.add_all(
        parser,
        "images and *.csv with a line a box",
        "the classes in the data, sorted",
        "files called train, val and test, a column split, or folders of these names",
    )


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there is no such file; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir), options, _KIND)


def read(source_dir: str) -> Reading:
    """The Reading of a folder."""
    refuse_no_folder(source_dir)
    names = visible_files(source_dir, ".csv")
    described = _descriptions(source_dir, names)
    problems: List[Problem] = []
    wanted = [name for name in names if not posixpath.basename(name).startswith(_DESCRIPTIONS)]
    found = of_files(source_dir, wanted, lambda name, content: _entries(name, content, described, problems))
    need(found, source_dir, "CSV with columns of an image, a class and the four sides of a box")
    digest = f"{found.digest} {sorted(described.items())}" if described else found.digest
    return Reading(found.entries, digest, problems=problems, foreign=found.foreign)


def _descriptions(source_dir, names) -> Dict[str, str]:
    """{code: name} of Open Images' class-descriptions files."""
    found: Dict[str, str] = {}
    for name in names:
        if posixpath.basename(name).startswith(_DESCRIPTIONS):
            with open(os.path.join(source_dir, name), "rb") as file:
                rows = _rows(text_of(name, file.read()), ",") or []
            found.update({row[0]: row[1] for _, row in rows if len(row) > 1})
    return found


def _entries(name, content, described, problems) -> Optional[List[Entry]]:
    table = _table(name, content)
    if table is None:
        return None
    images: Dict[Tuple[str, str], Annotation] = collections.OrderedDict()
    for line, fields in table.rows:
        try:
            key, size, item = _row(table, fields, described)
            _add(images, key, size, item, "fraction" if table.shares else "pixels")
        except ValueError as reason:
            problems.append(Problem(f"{name}, line {line}", str(reason)))
    return [
        entry(
            image,
            f"{name}, {image}",
            annotation,
            folder=posixpath.dirname(name),
            stem=table.shares,
            split=split or of_path(name),
            group=name,
        )
        for (image, split), annotation in images.items()
    ]


def _add(images, key, size, item, unit):
    """Puts an object to its image. Raises ValueError where lines state different sizes of it."""
    annotation = images.setdefault(key, Annotation(size[0], size[1], [], unit=unit))
    if (annotation.width, annotation.height) != size:
        raise ValueError(
            f"it says {size[0]}x{size[1]} of an image that is {annotation.width}x{annotation.height} before"
        )
    if item is not None:
        annotation.objects.append(item)


def is_table(name: str, content: bytes) -> bool:
    """Whether this is a table with a line a box."""
    return _table(name, content) is not None


def _table(name, content) -> Optional[Table]:
    text = text_of(name, content)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = _rows(text, delimiter)
    if not rows:
        return None
    heading = [field.lower() for field in rows[0][1]]
    columns = _columns(heading)
    if all(what in columns for what in _NEEDED):
        return Table(name, columns, rows[1:], _OPEN_IMAGES in heading)
    return Table(name, _RETINANET, rows, False) if _is_retinanet(rows) else None


def _rows(text, delimiter) -> Optional[List[Tuple[int, List[str]]]]:
    """(line, fields) of each row; None of what is no CSV."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        return [(reader.line_num, [field.strip() for field in row]) for row in reader if any(row)]
    except csv.Error:
        return None


def _columns(heading: Sequence[str]) -> Dict[str, int]:
    found = {}
    for what, names in _COLUMNS.items():
        places = [heading.index(name) for name in names if name in heading]
        if places:
            found[what] = places[0]
    return found


def _is_retinanet(rows):
    """Whether rows without a heading are path, four numbers and a class, or a path and five empty fields."""
    return all(len(fields) == len(_RETINANET) for _, fields in rows[:10]) and any(
        all(field.lstrip("-").replace(".", "", 1).isdigit() for field in fields[1:5]) for _, fields in rows[:10]
    )


def _row(table, fields, described):
    """((image, split), (width, height), Object or None of an image without any). Raises ValueError."""

    def field(what):
        place = table.columns.get(what)
        return fields[place] if place is not None and place < len(fields) else ""

    image, name = field("image"), field("class")
    if not image:
        raise ValueError("it names no image")
    split = of_word(field("split")) if "split" in table.columns else ""
    size = (whole(field("width")), whole(field("height")))
    sides = [field(side) for side in ("xmin", "ymin", "xmax", "ymax")]
    if not name and not any(sides):
        return (image, split), size, None
    if name.startswith(_CODE):
        if described and name not in described:
            raise ValueError(f"it is of a class {name} that class-descriptions does not name")
        name = described.get(name, name)
    try:
        box = Box(*map(number, sides))
    except ValueError as error:
        raise ValueError(f"its box cannot be read ({', '.join(sides)})") from error
    return (image, split), size, Object(box, name)
