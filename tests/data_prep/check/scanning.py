"""How the tests of this room scan records, and what they read from the report."""

from data_prep.check import inputs, model_input, scan


def find(report, kind):
    """(count, places) of a kind in a report."""
    listed = {entry["kind"]: entry for entry in report.as_json()["findings"]}
    return (listed[kind]["count"], listed[kind]["places"]) if kind in listed else (0, [])


def kinds(report):
    return [entry["kind"] for entry in report.as_json()["findings"]]


def check(*paths, **options):
    return scan.scan(inputs.find([str(path) for path in paths]), scan.Options(**options))


SMALL_SSD = """
    model { ssd {
        image_resizer { fixed_shape_resizer { width: 160 height: 160 } }
        feature_extractor { type: "ssd_mobilenet_v1" }
        anchor_generator { ssd_anchor_generator {
            num_layers: 4 min_scale: 0.15 max_scale: 0.7 aspect_ratios: 1.0 reduce_boxes_in_lowest_layer: false } }
        post_processing { batch_non_max_suppression { max_total_detections: 2 } } } }"""


def facts_of(tmp_path, text=SMALL_SSD):
    """The Facts of a pipeline config."""
    (tmp_path / "a.config").write_text(text, encoding="utf-8")
    return model_input.read(str(tmp_path / "a.config"))
