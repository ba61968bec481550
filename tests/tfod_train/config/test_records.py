"""Records that a config names itself, with DATASET unset: trained on, or refused with the names."""

import json
import os

import pytest

from common.errors import Refused
from tests.data_prep import foreign_records
from tests.data_prep.adopt.conftest import LABEL_MAP
from tfod_train.config import dataset as datasets
from tfod_train.config import records

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def theirs(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    foreign_records.write(folder / "t.record", *[foreign_records.example(number) for number in range(4)])
    foreign_records.write(folder / "v.record", foreign_records.example(9, labels=(2,)))
    (folder / "label_map.pbtxt").write_text(LABEL_MAP)
    return folder


@pytest.fixture
def settings_for(theirs, tmp_path, project_dir, read_settings):
    """function(train, val, label map, **settings) -> Settings with a config that names these; {} is the folder."""

    def make(train="{}/t.record", val="{}/v.record", label_map="{}/label_map.pbtxt", **settings):
        with open(os.path.join(project_dir, "configs", "ssd_mobilenet_v1_mini_pets.config")) as source:
            text = source.read()
        for reader, path in (("train_input_reader", train), ("eval_input_reader", val)):
            lines = f"{reader} {{\n"
            if label_map:
                lines += f'label_map_path: "{label_map.format(theirs)}"\n'
            if path:
                lines += f'tf_record_input_reader {{ input_path: "{path.format(theirs)}" }}\n'
            text = text.replace(f"{reader} {{\n", lines)
        path = tmp_path / "own.config"
        path.write_text(text)
        return read_settings(
            **dict(dict(DEVICE="cpu", DATA_DIR=str(tmp_path / "data"), PIPELINE_CONFIG=str(path)), **settings)
        )

    return make


def adopted(settings):
    """The Dataset of the settings after what a training makes without asking."""
    import io

    from tfod_train.commands import data
    from tfod_train.process.console import Console

    os.makedirs(settings.data_dir, exist_ok=True)
    data.ensure(settings, Console(io.StringIO()))
    return datasets.load(settings)


def test_they_are_trained_on_and_said(settings_for, theirs, two_cpus):
    from tfod_train.config import pipeline

    settings = settings_for()
    dataset = adopted(settings)
    assert dataset.name == "own" and settings.pipeline_config in dataset.found_how
    assert (dataset.examples("train"), dataset.examples("val"), dataset.classes) == (4, 1, ["cat", "dog"])
    made = pipeline.effective(pipeline.parse(settings.pipeline_config), settings, dataset, two_cpus)
    assert list(made.config.train_input_reader.tf_record_input_reader.input_path) == [str(theirs / "t.record")]
    assert list(made.config.eval_input_reader[0].tf_record_input_reader.input_path) == [str(theirs / "v.record")]
    assert made.config.eval_config.num_examples == 1 and made.config.model.ssd.num_classes == 2
    assert any(line.startswith("label_map_path") for line in made.changes)
    assert sorted(os.listdir(str(theirs))) == ["label_map.pbtxt", "t.record", "v.record"]


def test_they_are_read_once_and_again_where_they_changed(settings_for, theirs):
    settings = settings_for()
    dataset = adopted(settings)
    description = os.path.join(dataset.folder, "dataset.json")
    before = os.stat(description).st_mtime_ns
    adopted(settings)
    assert os.stat(description).st_mtime_ns == before
    foreign_records.write(theirs / "v.record", foreign_records.example(9), foreign_records.example(10))
    assert adopted(settings).examples("val") == 2


def test_a_pattern_names_all_its_files(settings_for, theirs):
    foreign_records.write(theirs / "t.record-2", foreign_records.example(7))
    assert adopted(settings_for(train="{}/t.record*")).examples("train") == 5


@pytest.mark.parametrize(
    "named, words",
    [
        (dict(train="{}/none.record"), ["none.record, which are not there", "PATH_TO_BE_CONFIGURED"]),
        (dict(val="{}/none.record"), ["none.record, which are not there"]),
        (dict(val=""), ["t.record, and none to evaluate", "eval_input_reader"]),
        (dict(val="PATH_TO_BE_CONFIGURED/x"), ["t.record, and none to evaluate"]),
        (dict(train=""), ["v.record, and none to train on"]),
        (dict(label_map="{}/none.pbtxt"), ["the label map", "none.pbtxt"]),
        (dict(label_map=""), ["names records, and no label map"]),
    ],
)
def test_what_is_missing_is_named(named, words, settings_for):
    with pytest.raises(Refused) as refused:
        datasets.locate(settings_for(**named))
    assert refused.value.code == 2
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_placeholders_mean_the_dataset_of_the_settings(settings_for):
    settings = settings_for(train="PATH_TO_BE_CONFIGURED/a", val="PATH_TO_BE_CONFIGURED/b", label_map="")
    assert datasets.locate(settings)[0] == "mini-pets"


def test_a_dataset_that_is_named_as_well_is_refused_with_both(settings_for, theirs, mini, two_cpus):
    from tfod_train.config import pipeline

    settings = settings_for(DATASET=str(mini))
    with pytest.raises(Refused) as refused:
        pipeline.effective(pipeline.parse(settings.pipeline_config), settings, datasets.load(settings), two_cpus)
    assert str(theirs / "t.record") in refused.value.what and str(mini) in refused.value.what


def test_records_of_a_described_dataset_are_that_dataset(settings_for, mini):
    description = json.loads((mini / "dataset.json").read_text())
    train, val = (str(mini / description["splits"][split]["pattern"]) for split in ("train", "val"))
    settings = settings_for(train=train, val=val, label_map=str(mini / "label_map.pbtxt"))
    assert datasets.locate(settings)[1] == str(mini)
    assert records.dataset_of(datasets.own_records(settings)) == str(mini)


def test_an_override_may_name_them(settings_for, theirs):
    override = "".join(
        f"{reader} {{ label_map_path: '{theirs}/label_map.pbtxt' "
        f"tf_record_input_reader {{ input_path: '{theirs}/{name}' }} }}"
        for reader, name in (("train_input_reader", "t.record"), ("eval_input_reader", "v.record"))
    )
    settings = settings_for(train="", val="", label_map="", CONFIG_OVERRIDE=override)
    assert datasets.own_records(settings).patterns["train"] == [str(theirs / "t.record")]


def test_a_config_that_cannot_be_read_is_told_where_configs_are(settings_for):
    settings = settings_for()
    with open(settings.pipeline_config, "a") as config:
        config.write("nonsense")
    assert datasets.own_records(settings) is None


def test_the_preflight_reads_none_and_says_what_a_training_does(settings_for):
    from tfod_train.preflight import checks

    line, dataset = checks._records(settings_for())
    assert dataset is None and "a training reads them first" in line.text


def test_other_names_for_the_ids_are_another_dataset(settings_for, theirs):
    settings = settings_for()
    adopted(settings)
    (theirs / "label_map.pbtxt").write_text(LABEL_MAP.replace("cat", "owl"))
    assert adopted(settings).classes == ["owl", "dog"]


def test_records_of_a_described_dataset_with_other_classes_are_not_that_dataset(settings_for, mini, theirs):
    description = json.loads((mini / "dataset.json").read_text())
    train, val = (str(mini / description["splits"][split]["pattern"]) for split in ("train", "val"))
    settings = settings_for(train=train, val=val)
    assert records.dataset_of(datasets.own_records(settings)) is None
