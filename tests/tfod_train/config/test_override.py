"""CONFIG_OVERRIDE: merged into the config, said, and never undone in silence."""

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


def override(text):
    from tfod_train.config.override import Override

    return Override(text)


def test_single_fields_are_replaced_and_said(effective):
    made = effective(CONFIG_OVERRIDE="train_config { num_steps: 70 } eval_config { num_visualizations: 3 }")
    assert made.config.train_config.num_steps == 70 and made.config.eval_config.num_visualizations == 3
    assert "train_config.num_steps: 500 -> 70 (CONFIG_OVERRIDE)" in made.changes
    assert any(line.startswith("eval_config.num_visualizations: ") for line in made.changes)


def test_lists_grow_and_both_are_said(effective):
    made = effective(
        CONFIG_OVERRIDE="model { ssd { anchor_generator { ssd_anchor_generator { aspect_ratios: 3 } } } } "
        "train_config { data_augmentation_options { random_vertical_flip {} } }"
    )
    assert list(made.config.model.ssd.anchor_generator.ssd_anchor_generator.aspect_ratios)[-1] == 3
    kinds = [one.WhichOneof("preprocessing_step") for one in made.config.train_config.data_augmentation_options]
    assert kinds == ["random_horizontal_flip", "random_vertical_flip"]
    assert any("aspect_ratios: 1, 0.75, 1.3333 -> 1, 0.75, 1.3333, 3" in line for line in made.changes)


def test_another_optimizer_takes_the_place_of_the_first(effective):
    made = effective(
        CONFIG_OVERRIDE="train_config { optimizer { momentum_optimizer { learning_rate { constant_learning_rate "
        "{ learning_rate: 0.01 } } } } }"
    )
    assert made.config.train_config.optimizer.WhichOneof("optimizer") == "momentum_optimizer"
    assert made.changes[0].endswith("(CONFIG_OVERRIDE)")


@pytest.mark.parametrize(
    "environ, what",
    [
        ({"CONFIG_OVERRIDE": "train_config { num_stpes: 3 }"}, "line 1, column 16"),
        ({"CONFIG_OVERRIDE": "num_steps: 3"}, "CONFIG_OVERRIDE is not a pipeline config"),
        ({"CONFIG_OVERRIDE": "model { faster_rcnn { num_classes: 3 } }"}, "the config's model is ssd"),
        ({"CONFIG_OVERRIDE": "train_config { num_steps: 70 }", "NUM_STEPS": "60"}, "it is 60"),
        ({"CONFIG_OVERRIDE": "train_config { batch_size: 8 }", "BATCH_SIZE": "4"}, "train_config.batch_size to 8"),
        ({"CONFIG_OVERRIDE": "model { ssd { num_classes: 7 } }"}, "the dataset it is 3"),
        ({"CONFIG_OVERRIDE": "eval_config { batch_size: 4 }"}, "eval_config.batch_size to 4"),
        ({"CONFIG_OVERRIDE": "eval_input_reader { sample_1_of_n_examples: 4 }"}, "sample_1_of_n_examples to 4"),
        (
            {"CONFIG_OVERRIDE": "train_input_reader { tf_record_input_reader { input_path: '/x/a.record' } }"},
            "/x/a.record",
        ),
    ],
)
def test_what_it_asks_for_and_cannot_have_is_refused(environ, what, effective):
    with pytest.raises(Refused) as refused:
        effective(**environ)
    assert refused.value.code == 2 and what in refused.value.what


def test_a_setting_that_says_the_same_is_no_contradiction(effective):
    made = effective(CONFIG_OVERRIDE="train_config { num_steps: 70 }", NUM_STEPS="70")
    assert made.config.train_config.num_steps == 70


def test_an_evaluation_is_told_what_its_run_has_otherwise(effective):
    config = effective().config
    asked = override("train_config { num_steps: 70 batch_size: 16 }")
    assert asked.differs_from(config) == ["train_config.num_steps is 500 there, not 70"]
    assert override(None).differs_from(config) == []


def test_the_evaluations_reader_is_changed_and_no_second_one_added(effective):
    made = effective(CONFIG_OVERRIDE="eval_input_reader { queue_capacity: 7 }")
    assert [reader.queue_capacity for reader in made.config.eval_input_reader] == [7]
