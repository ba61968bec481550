"""Class names against a label map; ../formats/test_voc.py has what becomes of a conversion."""

import pytest

from common.errors import DataError, UsageError
from data_prep.source import class_names


def test_the_names_of_a_map_are_in_the_order_of_their_ids(tmp_path):
    (tmp_path / "map").write_text("item { id: 2 name: 'dog' } item { id: 1 name: 'cat' }")
    assert class_names.read(str(tmp_path / "map")) == ("cat", "dog")
    assert class_names.ids_of(class_names.read(str(tmp_path / "map"))) == {"cat": 1, "dog": 2}


@pytest.mark.parametrize(
    "text, why",
    [
        (None, "No such file"),
        ("item {", "cannot be used"),
        ("item { id: 1 name: 'cat' } item { id: 3 name: 'dog' }", "not 1 to 2 without a gap"),
    ],
)
def test_a_map_that_gives_no_num_classes_is_refused(text, why, tmp_path):
    if text is not None:
        (tmp_path / "map").write_text(text)
    with pytest.raises(UsageError, match=why):
        class_names.read(str(tmp_path / "map"))


def test_names_that_the_map_lacks_are_named_with_the_nearest_whatever_their_letter_case():
    class_names.refuse_unknown(["cat", "cat"], ["cat", "dog"], "mine")
    with pytest.raises(DataError) as refused:
        class_names.refuse_unknown(["CAT", "zebra", "", "dog"], ["cat", "dog"], "mine")
    assert refused.value.what == (
        "mine names classes that the label map does not have: (an empty name), CAT (did you mean cat?), zebra."
    )
    assert refused.value.do == "Correct the names or the map; its classes are cat, dog."


def test_of_many_unknown_names_the_first_are_shown():
    with pytest.raises(DataError, match="a1, a2, a3, a4, a5 and 2 more"):
        class_names.refuse_unknown([f"a{number}" for number in range(1, 8)], ["horse"], "mine")
