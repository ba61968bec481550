"""Pascal VOC's xml, and numbers of annotations."""

import math

import pytest
from hypothesis import given, settings, strategies

from data_prep.images.boxes import Box
from data_prep.source import annotation as annotations


@settings(deadline=None)
@given(strategies.text(max_size=60) | strategies.binary(max_size=60))
def test_a_broken_xml_is_read_or_refused_but_never_ends_the_run(tmp_path_factory, junk):
    path = tmp_path_factory.mktemp("xml") / "a.xml"
    junk = junk.encode("utf-8", "replace") if isinstance(junk, str) else junk
    path.write_bytes(b"<annotation><object><bndbox><xmin>" + junk + b"</xmin></bndbox></object></annotation>")
    try:
        annotation = annotations.read_xml(str(path))
    except ValueError as reason:
        assert str(reason)
    else:
        assert all(item.box is None for item in annotation.objects)


def xml(objects="", size="<size><width>40</width><height>30</height></size>"):
    return annotations.of_xml(annotations.xml_of(f"<annotation>{size}{objects}</annotation>".encode()))


BOX = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3.5</xmax><ymax>4</ymax></bndbox>"


def test_what_an_xml_says_is_read_and_what_it_leaves_out_is_nothing():
    (item,) = xml(f"<object><name> cat </name><difficult>1</difficult><pose>Left</pose>{BOX}</object>").objects
    assert (item.name, item.box, item.difficult, item.truncated, item.pose) == ("cat", Box(1, 2, 3.5, 4), 1, 0, "Left")
    assert xml(size="") == annotations.Annotation(0, 0, [])
    assert xml(size="<filename> a.jpg </filename>").filename == "a.jpg"


def test_a_box_in_other_units_of_a_comment_does_not_count():
    (item,) = xml(f"<object><!-- <name>dog</name> --><name>cat</name>{BOX}</object>").objects
    assert item.name == "cat"


def test_an_object_of_two_boxes_has_none_and_says_why():
    (item,) = xml(f"<object><name>cat</name>{BOX}{BOX}</object>").objects
    assert item.box is None and "2 boxes (<bndbox>) and one name" in item.problem


def test_a_rotated_box_is_the_upright_one_around_it_and_told():
    rotated = "<cx>20</cx><cy>10</cy><w>8</w><h>4</h>"
    (item,) = xml(
        f"<object><name>cat</name><robndbox>{rotated}<angle>{math.pi / 2}</angle></robndbox></object>"
    ).objects
    assert item.box == pytest.approx((18, 6, 22, 14))
    assert item.notes == ("a box rotated by 90 degrees became the upright box around it",)
    (item,) = xml(f"<object><name>cat</name><robndbox>{rotated}</robndbox></object>").objects
    assert item.box is None


def test_entities_of_other_files_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a.xml").write_text(
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><annotation><filename>&x;</filename></annotation>'
    )
    assert "secret" not in annotations.read_xml(str(tmp_path / "a.xml")).filename


def test_a_file_that_is_not_there_is_a_value_error(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        annotations.read_xml(str(tmp_path / "none.xml"))


@pytest.mark.parametrize(
    "value, number",
    [("3", 3), (" 3.9 ", 3), (-1, 0), ("nan", 0), (2**31, 0), (2**31 - 1, 2**31 - 1), (None, 0), ([], 0), (10**400, 0)],
)
def test_a_number_that_no_record_holds_is_nothing(value, number):
    assert annotations.whole(value) == number
