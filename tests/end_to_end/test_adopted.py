"""Records that were there already train: adopted, and named by a config alone."""

import glob
import json
import os
import shutil

import pytest

from tests.training_fixtures import TINY_CONFIG

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def theirs(mini, tmp_path_factory):
    """Shards and a label map that nothing of ours describes."""
    folder = tmp_path_factory.mktemp("theirs")
    for path in glob.glob(str(mini / "*.record-*")) + [str(mini / "label_map.pbtxt")]:
        shutil.copy(path, str(folder))
    return folder


def of(folder, split):
    return os.path.join(str(folder), f"pet_faces_{split}.record-*")


def test_adopted_records_train_and_their_test_split_is_evaluated_apart(theirs, tiny, tmp_path):
    from data_prep.__main__ import main

    out = str(tmp_path / "data" / "adopted")
    # The last shard of those that train tests here.
    train, held_out = of(theirs, "train").replace("*", "0000[0-8]*"), of(theirs, "train").replace("*", "00009*")
    options = ["--records", train, "--val", of(theirs, "val"), "--test", held_out]
    assert main(["adopt"] + options + ["--label-map", str(theirs / "label_map.pbtxt"), "--out", out]) == 0
    done = tiny("train", tmp_path / "run", DATASET=out, NUM_STEPS="2", EVAL_AT_END="1")
    assert done.code == 0, done.console
    assert "on adopted (122 images, 3 classes;" in done.console
    results = tmp_path / "run" / "eval" / "metrics.json"
    (entry,) = json.loads(results.read_text())["evaluations"]
    assert sum(entry["per_class_boxes"].values()) == 71
    shards = json.loads((tmp_path / "run" / "run.json").read_text())["dataset"]["shards"]
    assert len(shards["train"]) == 9 and all("sha256" in shard for shard in shards["train"])
    untouched = [results, tmp_path / "run" / "best" / "best.json", tmp_path / "run" / "eval" / "best_detections.png"]
    before = [path.read_bytes() for path in untouched]
    done = tiny("eval", tmp_path / "run", SPLIT="test")
    assert done.code == 0 and "Evaluating the test split (13 images)" in done.console, done.console
    assert [path.read_bytes() for path in untouched] == before
    (tested,) = json.loads((tmp_path / "run" / "eval" / "test_metrics.json").read_text())["evaluations"]
    assert (tested["images"], tested["checkpoint"]) == (13, entry["checkpoint"])


def test_a_config_alone_trains_on_the_records_that_it_names(theirs, tiny_training, tmp_path):
    with open(TINY_CONFIG) as source:
        text = source.read()
    for reader, split in (("train_input_reader", "train"), ("eval_input_reader", "val")):
        named = (
            f'label_map_path: "{theirs}/label_map.pbtxt" tf_record_input_reader {{ input_path: "{of(theirs, split)}" }}'
        )
        text = text.replace(f"{reader} {{", f"{reader} {{ {named}")
    config = tmp_path / "own.config"
    config.write_text(text)
    before = sorted(os.listdir(str(theirs)))
    done = tiny_training(
        tmp_path / "run",
        PIPELINE_CONFIG=str(config),
        DATASET="",
        DATA_DIR=str(tmp_path),
        NUM_STEPS="2",
        TRAINER="clone",
    )
    assert done.code == 0, done.console
    assert f"the records that {config} names" in done.console and sorted(os.listdir(str(theirs))) == before
    assert json.loads((tmp_path / "run" / "run.json").read_text())["dataset"]["folder"] == str(tmp_path / "own-adopted")
