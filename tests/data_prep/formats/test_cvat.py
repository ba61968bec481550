"""CVAT's own formats: rotated boxes, other shapes, several jobs, and the frames of a video."""

import pytest

from data_prep.formats import cvat
from data_prep.source import annotation as annotations
from data_prep.source.reading import load


@pytest.fixture
def entries(tmp_path):
    """function(inside of <annotations>) -> the Entries."""

    def read(text):
        path = tmp_path / "annotations.xml"
        path.write_text(f"<annotations>{text}</annotations>")
        return cvat.entries(annotations.parse_xml(str(path)), str(path), "annotations.xml")

    return read


def image(*shapes):
    return f'<image id="0" name="x/a.jpg" width="80" height="60">{"".join(shapes)}</image>'


BOX = '<box label="cat" xtl="30" ytl="20" xbr="50" ybr="30" {}/>'


@pytest.mark.parametrize(
    "rotation, box",
    [
        ("", (30, 20, 50, 30)),
        ('rotation="0.0"', (30, 20, 50, 30)),
        ('rotation="90"', (35, 15, 45, 35)),
        ('rotation="180"', (30, 20, 50, 30)),
        ('rotation="45"', (29.393, 14.393, 50.607, 35.607)),
        ('rotation="315"', (29.393, 14.393, 50.607, 35.607)),
    ],
)
def test_a_rotated_box_is_the_upright_one_around_it(entries, rotation, box):
    (item,) = load(entries(image(BOX.format(rotation)))[0]).objects
    assert tuple(item.box) == pytest.approx(box, abs=0.001)
    assert bool(item.notes) == (rotation not in ("", 'rotation="0.0"'))


@pytest.mark.parametrize("shape", ["polygon", "polyline", "points", "ellipse", "cuboid", "mask"])
def test_other_shapes_are_called_by_their_name(entries, shape):
    (item,) = load(entries(image(f'<{shape} label="cat" points="1,1;2,2"/>'))[0]).objects
    assert item.box is None and item.problem == f"a shape is a {shape}, which is no box"


def track(label, *boxes):
    shapes = "".join(
        f'<box frame="{frame}" outside="{outside}" xtl="{left}" ytl="1" xbr="40" ybr="30"/>'
        for frame, outside, left in boxes
    )
    return f'<track id="0" label="{label}">{shapes}</track>'


def test_a_video_has_a_record_a_frame_with_all_tracks_in_it(entries):
    meta = "<meta><task><size>4</size><original_size><width>80</width><height>60</height></original_size></task></meta>"
    found = entries(meta + track("cat", (0, 0, 1), (1, 0, 2), (2, 1, 2)) + track("dog", (1, 0, 9)))
    assert [each.name for each in found] == [f"frame_00000{number}" for number in range(4)]
    assert [[(item.name, item.box.xmin) for item in load(each).objects] for each in found] == [
        [("cat", 1)],
        [("cat", 2), ("dog", 9)],
        [],
        [],
    ]
    assert [each.optional for each in found] == [False, False, True, True]
    assert found[0].size == (80, 60)


def test_a_video_without_a_size_has_the_frames_that_tracks_are_in(entries):
    assert [each.name for each in entries(track("cat", (7, 0, 1), (9, 1, 1)))] == ["frame_000007", "frame_000009"]


def test_an_empty_file_has_no_entries(entries):
    assert entries("<version>1.1</version>") == []
