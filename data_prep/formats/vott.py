"""VoTT's JSON: an export of all assets, or a file for each asset."""

import posixpath
from argparse import ArgumentParser
from typing import Any, Dict, List, Optional

from data_prep.images import frame
from data_prep.images.boxes import Box
from data_prep.source import arguments, planning
from data_prep.source.annotation import Annotation, Object, whole
from data_prep.source.reading import Entry, Reading, entry, json_of, number, of_folder
from data_prep.writer import dataset

Options = planning.Options
_KIND = planning.Kind("vott", "vott")
_GROUP = "vott"


def add_options(parser: ArgumentParser) -> None:
    """Adds the options of `python -m data_prep vott`."""
    arguments.add_all(
        parser,
        "images, and VoTT's export or its asset files",
        "the tags in the data, sorted",
        "folders called train, val and test",
    )


def plan(source_dir: str, name: str, options: planning.Options) -> dataset.Plan:
    """The Plan of converting source_dir into a dataset called name.

    Raises:
        DataError: there are no annotations; more is said at planning.plan.
    """
    return planning.plan(source_dir, name, read(source_dir), options, _KIND)


def read(source_dir: str) -> Reading:
    """The Reading of a folder."""
    found = of_folder(source_dir, ".json", _entries, "JSON of VoTT")
    # It shows images as browsers do: turned as Exif says.
    return Reading(found.entries, found.digest, foreign=found.foreign, exif={_GROUP: frame.UPRIGHT})


def assets_of(content: Any) -> Optional[List[Dict[str, Any]]]:
    """The assets with their regions that a file holds; None of what is something else."""
    if not isinstance(content, dict):
        return None
    assets = [content] if "asset" in content else content.get("assets")
    assets = list(assets.values()) if isinstance(assets, dict) else assets
    if not isinstance(assets, list) or not all(_is_asset(asset) for asset in assets):
        return None
    return assets or None


def _is_asset(asset):
    return isinstance(asset, dict) and isinstance(asset.get("asset"), dict) and isinstance(asset.get("regions"), list)


def _entries(name, content) -> Optional[List[Entry]]:
    assets = assets_of(json_of(content))
    return None if assets is None else [_entry(name, asset) for asset in assets]


def _entry(name, asset):
    about = asset["asset"]
    size = about.get("size") if isinstance(about.get("size"), dict) else {}
    image = str(about.get("name") or "")
    path = str(about.get("path") or "")
    content = Annotation(
        whole(size.get("width")),
        whole(size.get("height")),
        [item for region in asset["regions"] if isinstance(region, dict) for item in _objects(region)],
    )
    return entry(
        image or path,
        f"{name}, {image or path}",
        content,
        folder=posixpath.dirname(name),
        others=(path,) if path and image else (),
        group=_GROUP,
    )


def _objects(region) -> List[Object]:
    """One for each tag, as VoTT's own export to Pascal VOC does."""
    tags = region.get("tags") if isinstance(region.get("tags"), list) else []
    try:
        found = region["boundingBox"]
        left, top, width, height = (number(found[key]) for key in ("left", "top", "width", "height"))
        box: Optional[Box] = Box(left, top, left + width, top + height)
    except (KeyError, TypeError, ValueError):
        box = None
    return [Object(box, str(tag).strip()) for tag in tags or [""]]
