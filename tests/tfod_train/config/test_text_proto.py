"""A config's text, read with the place where it fails and shown field by field."""

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


def test_every_field_has_its_dotted_path():
    from tfod_train.config import text_proto

    config = text_proto.read(
        "model { ssd { num_classes: 3 } } eval_input_reader { shuffle: false } eval_input_reader { name: 'b' }", "it"
    )
    assert text_proto.values(config, "config.") == {
        "config.model.ssd.num_classes": "3",
        "config.eval_input_reader.shuffle": "false",
        "config.eval_input_reader[1].name": '"b"',
    }


@pytest.mark.parametrize(
    "text, what, do",
    [
        ("model {\n  ssd {\n    num_clases: 3\n", "line 3, column 5", "Did you mean num_classes?"),
        ("train_config { num_steps: x }", "line 1, column 27", "Correct it there."),
    ],
)
def test_the_place_is_named_with_the_nearest_field(text, what, do):
    from tfod_train.config import text_proto

    with pytest.raises(Refused) as refused:
        text_proto.read(text, "a.config")
    assert what in refused.value.what and refused.value.what.startswith("a.config is not") and do in refused.value.do
