"""Which models have a TFLite file, and how its input is normalised; test_export.py makes one."""

import types

import pytest

from common.errors import Refused

pytestmark = [pytest.mark.tensorflow, pytest.mark.usefixtures("protos")]

RESIZER = "image_resizer { fixed_shape_resizer { width: 4 height: 4 } }"
CODER = "box_coder { faster_rcnn_box_coder { } }"
SOFT = "batch_non_max_suppression { soft_nms_sigma: 0.5 }"
QUANTISED = "graph_rewriter { quantization { delay: 2 } }"


def parse(text):
    from google.protobuf import text_format
    from object_detection.protos import pipeline_pb2

    return text_format.Parse(text, pipeline_pb2.TrainEvalPipelineConfig())


def ssd(*parts, beside=""):
    return parse(f"model {{ ssd {{ {' '.join(parts)} }} }} {beside}")


@pytest.fixture
def preprocess(monkeypatch):
    """function(function of pixels) -> models are normalised like that from then on."""
    from tfod_train.export import tflite

    def use(function):
        model = types.SimpleNamespace(preprocess=lambda pixels: (function(pixels), None))
        monkeypatch.setattr(tflite.model_builder, "build", lambda config, is_training: model)

    return use


def test_a_plain_ssd_has_one():
    from tfod_train.export import tflite

    assert tflite.obstacle(ssd(RESIZER, CODER)) is None


@pytest.mark.parametrize(
    "text, why",
    [
        ("model { faster_rcnn { } }", "only SSD models have one"),
        (f"model {{ ssd {{ {CODER} }} }}", "no fixed_shape_resizer"),
        (f"model {{ ssd {{ {RESIZER} box_coder {{ keypoint_box_coder {{ }} }} }} }}", "faster_rcnn_box_coder alone"),
        (f"model {{ ssd {{ {RESIZER} {CODER} post_processing {{ {SOFT} }} }} }}", "no soft non-maximum suppression"),
    ],
)
def test_what_stands_in_the_way_is_said(text, why):
    from tfod_train.export import tflite

    assert why in tflite.obstacle(parse(text))


@pytest.mark.parametrize("scales, why", [([0.5, 0.5, 0.5], None), ([0.5, 0.5, 1.0], "scales its channels differently")])
def test_a_quantised_model_needs_one_scale(scales, why, preprocess):
    from tfod_train.export import tflite

    preprocess(lambda pixels: pixels * scales)
    found = tflite.obstacle(ssd(RESIZER, CODER, beside=QUANTISED))
    assert found is None if why is None else why in found
    assert tflite.obstacle(ssd(RESIZER, CODER)) is None  # a float input takes any


def test_scale_and_offset_are_those_of_each_channel(preprocess):
    from tfod_train.export import tflite

    preprocess(lambda pixels: pixels * [2 / 255, 1.0, 0.5] - [1.0, 123.68, 0.0])
    scale, offset = tflite.normalisation(ssd(RESIZER))
    assert scale == pytest.approx([2 / 255, 1.0, 0.5], rel=1e-6) and offset == pytest.approx([-1.0, -123.68, 0.0])


def test_an_input_that_is_not_normalised_linearly_is_refused(preprocess):
    from tfod_train.export import tflite

    preprocess(lambda pixels: pixels**2)
    with pytest.raises(Refused, match="is not normalised linearly") as refused:
        tflite.normalisation(ssd(RESIZER, 'feature_extractor { type: "mine" }'))
    assert "--no-tflite" in refused.value.do


def test_of_what_the_converter_says_the_last_reason_is_told():
    from tfod_train.export import tflite

    text = "2026 I toco.cc: hello\nTraceback\nException: first\nValueError: no kernel for Foo.\nAborted\n"
    assert tflite._reason(text) == "ValueError: no kernel for Foo"
    assert tflite._reason("nothing of the kind\n") == "nothing of the kind"
