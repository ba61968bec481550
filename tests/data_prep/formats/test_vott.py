"""VoTT's JSON: an export of all assets or a file for each, and regions with several tags."""

import pytest

from data_prep.formats import vott
from data_prep.images import frame
from data_prep.images.boxes import Box


def asset(name, *regions):
    about = {"name": name, "path": f"file:/home/me/{name}", "size": {"width": 80, "height": 60}}
    return {"asset": about, "regions": list(regions)}


def region(*tags, box=(1, 2, 3, 4)):
    return {"tags": list(tags), "boundingBox": dict(zip(("left", "top", "width", "height"), box))}


def test_a_file_for_each_asset_is_read_as_an_export_of_all(folder):
    one, other = asset("a.jpg", region("cat")), asset("b.jpg")
    folder.json("1-asset.json", one)
    folder.json("2-asset.json", other)
    apart = vott.read(str(folder.root)).entries
    for name in ("1-asset.json", "2-asset.json"):
        (folder.root / name).unlink()
    folder.json("x-export.json", {"assets": {"1": one, "2": other}})
    together = vott.read(str(folder.root))
    assert [(each.name, each.others, each.annotation) for each in apart] == [
        (each.name, each.others, each.annotation) for each in together.entries
    ]
    assert [each.size for each in apart] == [(80, 60)] * 2 and together.exif == {"vott": frame.UPRIGHT}


@pytest.mark.parametrize(
    "found, objects",
    [
        (region("cat", "dog"), [("cat", Box(1, 2, 4, 6)), ("dog", Box(1, 2, 4, 6))]),
        (region(), [("", Box(1, 2, 4, 6))]),
        (region("cat", box=(1, 2)), [("cat", None)]),
        (region("cat", box=(1, 2, "wide", 4)), [("cat", None)]),
        ({"tags": ["cat"]}, [("cat", None)]),
        ({"tags": "cat", "boundingBox": None}, [("", None)]),
    ],
)
def test_each_tag_of_a_region_is_an_object_and_a_box_that_is_none_is_not_dropped(folder, found, objects):
    folder.json("a-asset.json", asset("a.jpg", found))
    (entry,) = vott.read(str(folder.root)).entries
    assert [(item.name, item.box) for item in entry.annotation.objects] == objects


@pytest.mark.parametrize(
    "content", [[], {}, {"assets": {}}, {"assets": [1]}, {"asset": 1}, {"assets": [{"asset": {}}]}]
)
def test_other_json_has_no_assets(content):
    assert vott.assets_of(content) is None
