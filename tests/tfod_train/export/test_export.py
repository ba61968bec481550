"""A run is evaluated, its best checkpoint kept and exported, and the export draws boxes: one tiny run for all."""

import json
import os
import re
import shutil

import pytest

from common.errors import Refused
from tfod_train.checkpoints import integrity
from tfod_train.export import export

EXPORTED = [
    "export.json",
    "frozen_inference_graph.pb",
    "label_map.pbtxt",
    "model.tflite",
    "pipeline.config",
    "saved_model",
]


def read_json(*parts):
    with open(os.path.join(*map(str, parts))) as source:
        return json.load(source)


@pytest.mark.training
class TestBest(object):
    def test_every_checkpoint_is_evaluated_once_also_those_written_before_it_ran(self, trained):
        assert trained.code == 0, trained.console
        assert [entry["step"] for entry in trained.metrics()["evaluations"]] == [2, 4, 6]
        assert trained.console.count("Evaluated 59 of 59 images") == 3

    def test_the_best_one_is_kept_whole_and_alone(self, trained):
        metrics = trained.metrics()
        values = [entry["metrics"]["DetectionBoxes_Precision/mAP"] for entry in metrics["evaluations"]]
        best = read_json(trained.folder, "best", "best.json")
        assert best["step"] == metrics["best_step"] and best["value"] == max(values)
        kept = os.path.join(trained.folder, "best", f"model.ckpt-{best['step']}")
        assert integrity.problem(kept, values=True) is None
        assert {name.split(".")[1] for name in os.listdir(os.path.dirname(kept)) if name != "best.json"} == {
            f"ckpt-{best['step']}"
        }

    def test_nothing_is_left_aside(self, trained):
        assert not os.path.exists(os.path.join(trained.folder, "eval", ".in_hand"))


@pytest.mark.training
class TestExport(object):
    def test_the_best_checkpoint_is_exported_in_three_formats(self, trained, exported):
        assert exported.code == 0, exported.console
        step = trained.metrics()["best_step"]
        folder = os.path.join(trained.folder, "export", str(step))
        assert sorted(os.listdir(folder)) == EXPORTED
        assert os.listdir(os.path.dirname(folder)) == [str(step)]
        description = read_json(folder, "export.json")
        assert (description["step"], description["pictures_compared"]) == (step, 3)
        assert description["checkpoint"] == os.path.join(trained.folder, "best", f"model.ckpt-{step}")
        for name in ("frozen_inference_graph.pb", "saved_model", "model.tflite"):
            compared = description["compared"][name]
            assert compared["detections"] == 300
            assert max(compared["largest_difference"].values()) < 1e-5, name
        assert set(description["files"]) == set(EXPORTED) - {"export.json", "saved_model"} | {
            "saved_model/saved_model.pb"
        }

    def test_the_weights_are_the_evaluations_and_named(self, exported):
        assert "Taking the raw (the checkpoint holds moving averages too) weights." in exported.lines

    def test_the_flag_may_have_changed_since_the_training(self, tiny, trained, tmp_path):
        """From averages wanted to a checkpoint that has them; the edited config of the user plays no part."""
        averaged = tiny(
            "export",
            trained.folder,
            "--checkpoint",
            "newest",
            "--out",
            tmp_path / "averaged",
            USE_MOVING_AVERAGE="1",
            PIPELINE_CONFIG="configs/none.config",
        )
        assert averaged.code == 0, averaged.console
        assert "Taking the moving-average weights." in averaged.lines
        assert read_json(tmp_path, "averaged", "export.json")["step"] == 6
        # What is exported is not written over.
        again = tiny("export", trained.folder, "--out", tmp_path / "averaged")
        assert (again.code, "is there already" in again.console) == (2, True)

    def test_a_file_that_detects_something_else_is_an_error_and_nothing_stays(self, tiny, trained, tmp_path):
        spoilt = tiny("export", trained.folder, "--out", tmp_path / "spoilt" / "export", SPOIL="frozen")
        assert spoilt.code == 1, spoilt.console
        assert "saved_model" not in spoilt.console
        assert "frozen_inference_graph.pb does not detect what the checkpoint does" in spoilt.lines[-2]
        assert os.listdir(str(tmp_path / "spoilt")) == []

    @pytest.mark.long
    def test_a_checkpoint_of_another_model_is_refused(self, tiny, trained, tmp_path):
        folder = tmp_path / "other"
        shutil.copytree(os.path.join(trained.folder, "best"), str(folder))
        with open(os.path.join(trained.folder, "pipeline.config")) as source:
            (folder / "pipeline.config").write_text(source.read().replace("num_classes: 3", "num_classes: 2"))
        checkpoint = str(folder / (f"model.ckpt-{trained.metrics()['best_step']}"))
        refused = tiny("export", trained.folder, "--checkpoint", checkpoint)
        assert refused.code == 2, refused.console
        assert f"Checkpoint {checkpoint} is of another model than the config: 4 of " in refused.console
        assert not (folder / "export").exists() or os.listdir(str(folder / "export")) == []


@pytest.mark.long
def test_quantised_training_on_two_clones_exports_a_uint8_file(tiny, tiny_config, tmp_path):
    """And a training without moving averages, asked for them, exports what its checkpoint holds, and says so."""
    quantised = "graph_rewriter { quantization { delay: 2 weight_bits: 8 activation_bits: 8 } }"
    config = tiny_config(("eval_config {", quantised + " eval_config {"))
    folder = tmp_path / "run"
    # After three steps scores are still near the 0.5 they begin with, so that there is much to find again.
    trained = tiny(
        "train", folder, TRAINER="clone", PIPELINE_CONFIG=config, USE_MOVING_AVERAGE="0", NUM_STEPS="3", SEED="3"
    )
    assert trained.code == 0, trained.console
    done = tiny("export", folder, USE_MOVING_AVERAGE="1")
    assert done.code == 0, done.console
    assert "Taking the raw (the checkpoint holds no moving averages) weights." in done.lines
    description = read_json(folder, "export", "3", "export.json")
    assert description["tflite_input"]["dtype"] == "uint8"
    assert description["compared"]["frozen_inference_graph.pb"]["detections"] == 300
    rounded = description["compared"]["model.tflite"]
    assert rounded["detections"] >= 100 and rounded["found_again"] >= 0.8 * rounded["detections"]


class TestInHand(object):
    """A training beside an export may delete its checkpoint."""

    @pytest.fixture
    def checkpoint(self, tmp_path, write_checkpoint):
        path = str(tmp_path / "model.ckpt-7")
        write_checkpoint(path)
        return path

    def test_what_is_exported_outlives_the_trainings_own_and_nothing_is_left(self, checkpoint, tmp_path):
        with export._in_hand(checkpoint, str(tmp_path / "out")) as held:
            for path in integrity.files_of(checkpoint):
                os.unlink(path)
            assert integrity.problem(held, values=True) is None
        assert os.listdir(str(tmp_path)) == []

    def test_errors_name_the_one_that_was_asked_for(self, checkpoint, tmp_path):
        with pytest.raises(Refused, match=f"^{re.escape(checkpoint)} is odd[.]"):
            with export._in_hand(checkpoint, str(tmp_path / "out")) as held:
                raise Refused(f"{held} is odd.", "Do that.")

    def test_a_torn_one_is_refused(self, checkpoint, tmp_path):
        with open(checkpoint + ".data-00000-of-00001", "r+b") as shard:
            shard.write(b"\1")
        with pytest.raises(Refused, match="cannot be read: the checksum of v does not match"):
            with export._in_hand(checkpoint, str(tmp_path / "out")):
                pytest.fail("it was taken")


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["export", "--checkpoint", "nowhere/model.ckpt-1"], "There is no checkpoint nowhere/model.ckpt-1"),
        (["export"], "holds no run (no pipeline.config in it)"),
        (["detect", "--model", "nowhere", "a.jpg"], "nowhere is not the folder of an export"),
        (["detect", "--model", "nowhere", "--min-score", "2", "a.jpg"], "between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused_before_tensorflow_is_loaded(arguments, sentence, tiny, tmp_path):
    refused = tiny(arguments[0], tmp_path, *arguments[1:])
    assert refused.code == 2 and sentence in refused.console
