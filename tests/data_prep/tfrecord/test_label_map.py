"""Label maps are read as the API reads them, and refused where it would refuse or misread them."""

import pytest

from data_prep.tfrecord import label_map


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "holds no item"),
        ("item { id: 1 }", "without id or name"),
        ("item { name: 'a' }", "without id or name"),
        ("item { id: 0 name: 'cat' }", "ids count from 1"),
        ("item { id: -1 name: 'cat' }", "ids count from 1"),
        ("item { id: 1 name: 'a' } item { id: 1 name: 'b' }", "id 1 is given twice"),
        ("item { id: 1 name: 'a' } item { id: 2 name: 'a' }", "the name a is given twice"),
        ("item {", "no label map"),
        ("\x00", "no label map"),
    ],
)
def test_a_label_map_that_the_api_refuses_or_misreads_is_refused(tmp_path, text, reason):
    (tmp_path / "map").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=reason):
        label_map.read(str(tmp_path / "map"))


def test_label_maps_with_comments_escapes_and_further_fields_are_read(tmp_path):
    (tmp_path / "map").write_text(
        '# classes\nitem { id: 0 name: "background" }\nitem: < id: 2 name: "K\\303\\244tzchen" frequency: RARE >\n'
        "item { display_name: '\u732b' id: 1 keypoints { id: 1 label: 'nose' } }",
        encoding="utf-8",
    )
    found = label_map.read(str(tmp_path / "map"))
    assert found.names == {1: "\u732b", 2: "K\u00e4tzchen"} and found.ids == {"\u732b": 1, "K\u00e4tzchen": 2}
