"""The Plan of a conversion: classes, splits, ids, what is not used, and when it counts as another one."""

import pytest
from PIL import Image

from common.errors import DataError
from data_prep.images import frame
from data_prep.images.boxes import Box
from data_prep.source import planning
from data_prep.source.annotation import Annotation, Object
from data_prep.source.matching import Match
from data_prep.source.reading import Problem, Reading, entry
from data_prep.tfrecord import codec

KIND = planning.Kind("mine", "pre")
IMAGES = ("a.jpg", "b.jpg", "c.jpg", "d.jpg")


def of(image, name="cat", **fields):
    return entry(image, f"x.json, {image}", Annotation(40, 30, [Object(Box(1, 2, 20, 21), name)]), **fields)


@pytest.fixture
def plan(tmp_path, encode):
    """function(entries, Options, ...) -> Plan of a folder with IMAGES; further arguments are fields of the Reading."""
    for image in IMAGES:
        (tmp_path / image).write_bytes(encode())

    def planned(entries, options=None, kind=KIND, **fields):
        return planning.plan(
            str(tmp_path), "set", Reading(entries, "digest", **fields), options or planning.Options(), kind
        )

    return planned


def every(**fields):
    return [of(image, **fields) for image in IMAGES]


def test_classes_are_those_of_the_source_else_those_in_the_data_sorted(plan, tmp_path):
    entries = [of("a.jpg", "dog"), of("b.jpg", "cat"), of("c.jpg", "Zebra"), of("d.jpg", "")]
    assert plan(entries).classes == ("Zebra", "cat", "dog")
    assert plan(entries, classes=("dog", "cat", "Zebra", "none")).classes == ("dog", "cat", "Zebra", "none")
    (tmp_path / "map").write_text("item { id: 1 name: 'cat' }")
    with pytest.raises(DataError, match="does not have: Zebra, dog"):
        plan(entries, planning.Options(label_map=str(tmp_path / "map")))
    with pytest.raises(DataError, match="has an object with a name"):
        plan(every(name=""))


def test_an_id_is_the_sources_own_else_the_images_path(plan):
    found = plan([of("a.jpg", id="7"), of("b.jpg"), of("c.jpg", id="b.jpg"), of("none.jpg")])
    assert sorted(sum((split.ids for split in found.splits), [])) == ["7", "b.jpg", "b.jpg (2)", "x.json, none.jpg"]
    features = codec.decode(codec.encode(found.convert("7").features))
    assert (features["image/source_id"], features["image/filename"]) == ([b"7"], [b"a.jpg"])
    # A file's name is told where the id is not one.
    assert (found.convert("7").file, found.convert("b.jpg").file) == ("a.jpg", "")
    assert found.convert("x.json, none.jpg").skipped == "no image of this name"


def test_what_is_not_used_is_listed_by_reason(plan):
    entries = [of("a.jpg", split="train"), of("b.jpg", split="val"), of("c.jpg")]
    found = plan(entries, foreign=["b.xml", "a.xml"], problems=[Problem("x.json, 3", "it is torn")])
    assert [(unused.names, unused.reason) for unused in found.unused] == [
        (["c.jpg"], "in none of the splits"),
        (["d.jpg"], "no annotation"),
        (["a.xml", "b.xml"], "no annotation of this format"),
    ]
    assert found.problems == [Problem("x.json, 3", "it is torn")]
    assert found.lines == ["Split: the source's own, train 1 image, val 1 image."]


def test_a_source_without_entries_is_refused(plan):
    with pytest.raises(DataError, match="no annotation of an image"):
        plan([])


def test_what_changes_a_byte_makes_another_dataset(plan, tmp_path, encode):
    first = plan(every())
    assert plan(every()).fingerprint == first.fingerprint
    others = [
        plan(every(), planning.Options(exif="stored")),
        plan(every(), planning.Options(masks="png")),
        plan(every(), planning.Options(shards=2)),
        plan(every(), classes=("cat", "dog")),
        plan(every(), kind=planning.Kind("other", "pre")),
    ]
    (tmp_path / "a.jpg").write_bytes(encode(quality=20))
    others.append(plan(every()))
    assert all(other.fingerprint != first.fingerprint for other in others)


def test_the_command_repeats_what_was_chosen(plan, tmp_path):
    name, options = plan(every(), planning.Options(exif="stored", shards=1)).command
    assert (name, options["source"], options["exif"], options["shards"]) == ("mine", str(tmp_path), "stored", 1)
    assert "masks" not in options  # what every format can do, and nobody asked for


@pytest.mark.parametrize("masks, told", [("none", None), ("png", "png")])
def test_the_dataset_says_which_masks_it_has(masks, told, plan):
    found = plan(every(), planning.Options(masks=masks))
    assert found.extra["masks"] == told and found.config["load_instance_masks"] == bool(told)


def exif_of(tmp_path, *claimed, option=None, known=None):
    """Exif of images on their side, stored as 40x30, whose annotations claim these sizes."""
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (40, 30)).save(str(tmp_path / "turned.jpg"), exif=turned.tobytes())
    matches = [
        Match(entry(f"{number}", "x", Annotation(size[0], size[1], []), group="tool"), "turned.jpg")
        for number, size in enumerate(claimed)
    ]
    return planning.Exif(str(tmp_path), matches, option, known or {}).of_group("tool")


@pytest.mark.parametrize(
    "claimed, rest, said",
    [
        ([(40, 30)], {}, frame.STORED),
        ([(30, 40), (0, 0)], {}, frame.UPRIGHT),
        ([(40, 30), (30, 40)], {}, ""),
        ([(0, 0)], {"known": {"tool": frame.UPRIGHT}}, frame.UPRIGHT),
        ([(40, 30)], {"known": {"tool": frame.UPRIGHT}}, frame.STORED),
        ([(40, 30)], {"option": frame.UPRIGHT}, frame.UPRIGHT),
        ([], {"known": {"other": frame.UPRIGHT}}, ""),
    ],
)
def test_how_boxes_were_drawn_is_said_by_an_option_else_by_sizes_else_by_the_tool(tmp_path, claimed, rest, said):
    assert exif_of(tmp_path, *claimed, **rest) == said


def test_shares_that_call_themselves_pixels_are_refused_before_anything_is_converted(plan):
    shares = Annotation(0, 0, [Object(Box(0.1, 0.2, 0.5, 1.0), "cat")])
    with pytest.raises(DataError, match="--coordinates"):
        plan([entry(image, "x", shares) for image in IMAGES])
