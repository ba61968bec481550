"""What trainings and evaluations of made-up runs leave behind, and a page as a browser reads it."""

import html.parser
import json

from tfod_train.report import page as report

BOXES, BOXES50, MASKS = (
    "DetectionBoxes_Precision/mAP",
    "DetectionBoxes_Precision/mAP@.50IOU",
    "DetectionMasks_Precision/mAP",
)
CONFIG = [
    "model {",
    "  ssd {",
    "    feature_extractor {",
    '      type: "tiny_ssd"',
    "    }",
    "  }",
    "}",
    "train_config {",
    "  batch_size: 8",
    "  num_steps: 200",
    "}",
    "eval_config {",
    "  batch_size: 1",
    "}",
]
MANIFEST = {
    "settings": {"trainer": "clone", "num_steps": 200, "seed": None, "eval_at_end": True},
    "config": CONFIG,
    "config_file": "configs/x.config",
    "config_changes": ["num_steps: 500 -> 200 (NUM_STEPS)"],
    "command": "train",
    "dataset": {
        "name": "mini-pets",
        "folder": "data/mini-pets",
        "classes": ["Bengal", "pug", "Siamese"],
        "shards": {
            "train": [
                {"file": "a", "examples": 70, "bytes": 1000000, "sha256": "0a"},
                {"file": "b", "examples": 65, "bytes": 1000000, "sha256": "0b"},
            ],
            "val": [{"file": "c", "examples": 59, "bytes": 900000, "sha256": "0c"}],
        },
    },
    "devices": {"kind": "cpu", "count": 2, "used": ["/cpu:0", "/cpu:1"], "gpus": [], "driver": None},
    "host": {"machine": "Linux", "cpus": 2, "container": False},
    "versions": {"python": "3.7.16", "numpy": "1.19.5"},
    "api": {"commit": "170c71c", "patches": ["a", "b"]},
    "code": {"commit": "abc", "changed": []},
    "earlier": [],
    "start_step": 0,
    "started": "2026-11-30T10:00:00+0000",
    "ended": "2026-11-30T10:02:05+0000",
    "step": 200,
    "outcome": "finished",
    "exit_code": 0,
}


def write_run(run, changes=(), records=(), evaluations=None, best_step=None):
    """Writes what a run leaves into the folder `run`, which it makes and returns; records may be texts."""
    (run / "eval").mkdir(parents=True)
    (run / "run.json").write_text(json.dumps(dict(MANIFEST, **dict(changes))))
    if records is not None:
        (run / "metrics.jsonl").write_text(
            "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records)
        )
    if evaluations is not None:
        (run / "eval" / "metrics.json").write_text(json.dumps({"evaluations": evaluations, "best_step": best_step}))
    return run


def record(step, loss=1.0, **more):
    return dict(
        {
            "step": step,
            "loss": loss,
            "time": 1e9 + step,
            "images_per_sec": 20.0,
            "input_wait_secs": 0.1,
            "learning_rate": 0.004,
        },
        **more,
    )


def entry(step, value, **more):
    return dict(
        {
            "step": step,
            "images": 59,
            "images_expected": 59,
            "weights": "moving-average",
            "metrics": {BOXES: value, BOXES50: value + 0.1},
            "per_class_boxes": {"pug": 30, "Bengal": 29},
            "per_class_ap50": {"pug": 0.75, "Bengal": 0.25},
            "per_class_ap": {"pug": 0.625, "Bengal": 0.125},
        },
        **more,
    )


class Page(html.parser.HTMLParser):
    """A page read as a browser does: its texts, its elements, and whether each that is opened is closed."""

    EMPTY = ("meta", "img", "path", "use", "line")

    def __init__(self, content):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(content)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts += [" ".join(data.split())] if data.strip() and self.open[-1] != "style" else []

    @property
    def text(self):
        return " | ".join(self.texts)


def page_of(run):
    path = report.write(str(run))
    with open(path, encoding="utf-8") as file:
        return Page(file.read())
