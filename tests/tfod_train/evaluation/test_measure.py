"""One checkpoint measured: its entry, its table, and what is refused."""

import os
import types

import pytest

from common.errors import Refused
from tfod_train.evaluation import measure, visualization
from tfod_train.run.run_dir import RunDir

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def measuring(tmp_path, monkeypatch, read_settings):
    """function(images) -> (Measure of a run of two images of which so many come out, its config)."""
    from google.protobuf import text_format
    from object_detection.protos import pipeline_pb2

    def make(images):
        config = text_format.Parse(
            "eval_config { num_examples: 2 } "
            f"eval_input_reader {{ tf_record_input_reader {{ input_path: '{tmp_path}/v' }} }}",
            pipeline_pb2.TrainEvalPipelineConfig(),
        )
        cat = types.SimpleNamespace(boxes=3, ap50=0.5, ap=0.25, mask_ap=None)
        without = types.SimpleNamespace(boxes=0, ap50=0.0, ap=None, mask_ap=None)
        result = types.SimpleNamespace(
            step=7, images=images, metrics={}, weights="raw", kept_images=[], per_class={"cat": cat, "dog": without}
        )
        evaluator = types.SimpleNamespace(class_names={}, evaluate=lambda checkpoint, on_image: result)
        monkeypatch.setattr(measure, "_build", lambda *arguments: evaluator)
        monkeypatch.setattr(measure, "_write_events", lambda folder, result: None)
        monkeypatch.setattr(visualization, "sheet", lambda *arguments: b"drawn")
        run_dir = RunDir(str(tmp_path))
        quiet = types.SimpleNamespace(capture=lambda *a, **k: None, progress=lambda *a: None, end_progress=lambda: None)
        evaluated = measure.Evaluated(run_dir, read_settings(DEVICE="cpu"), None)
        places = measure.Places(str(tmp_path / "drawing.png"), str(tmp_path))
        return measure.Measure(evaluated, config, places, quiet, types.SimpleNamespace(beat=lambda phase: None)), config

    return make


def test_an_entry_has_the_classes_with_boxes_and_the_drawing_is_in_its_place(measuring, tmp_path):
    entry = measuring(2)[0].entry("model.ckpt-7")
    assert entry["per_class_boxes"] == {"cat": 3} and entry["per_class_ap50"] == {"cat": 0.5}
    assert entry["per_class_mask_ap"] == {} and (entry["step"], entry["images"]) == (7, 2)
    assert (tmp_path / "drawing.png").read_bytes() == b"drawn"


def test_an_image_too_few_is_refused_and_nothing_drawn(measuring, tmp_path):
    with pytest.raises(Refused, match="1 of 2 images were evaluated"):
        measuring(1)[0].entry("model.ckpt-7")
    assert not (tmp_path / "drawing.png").exists()


def test_records_that_are_not_there_are_named(measuring, tmp_path):
    config = measuring(2)[1]
    with pytest.raises(Refused, match="/v, which are evaluated, are not there"):
        measure.check_records(config)
    (tmp_path / "v").write_bytes(b"")
    measure.check_records(config)


def test_a_class_may_have_any_name():
    from rich.console import Console

    entry = {
        "step": 1,
        "per_class_boxes": {"[bold]cat[/bold]": 3, "dog": 2},
        "per_class_ap": {"dog": 0.25},
        "per_class_ap50": {},
    }
    console = Console(width=110, record=True, file=open(os.devnull, "w"))
    console.print(measure.table(entry))
    text = console.export_text()
    assert "[bold]cat[/bold]" in text and "0.250" in text and "AP@.5IOU" not in text
