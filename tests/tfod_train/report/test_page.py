"""report.html tells a run truly, whatever became of it, and is one page that fetches and runs nothing."""

import fcntl
import io
import json
import os
import re

import pytest

from common.errors import Refused
from tests.tfod_train.report.runs import BOXES, CONFIG, MASKS, entry, page_of, record
from tfod_train.report import page as report
from tfod_train.report import run_history

pytestmark = pytest.mark.usefixtures("protos")


def refusal(run):
    """(exit code, what is wrong)"""
    with pytest.raises(Refused) as refused:
        report.write(str(run))
    return refused.value.code, refused.value.what


class TestMetrics(object):
    def test_the_numbers_on_top_are_those_of_the_run(self, write):
        text = page_of(write(records=[record(1, 9.0), record(200, 2.5, images_per_sec=30.0)])).text
        assert "Step | 200 | of 200" in text
        assert "Loss | 2.500 | at step 200" in text
        assert "Images/s | 25.0" in text
        # 0.1 s of the 8 / 20 s and of the 8 / 30 s that a step takes.
        assert "Input wait | 31 %" in text
        assert "Time | 2 min 5 s" in text

    def test_each_curve_that_has_values_is_drawn_and_no_other(self, write):
        gpus = [{"percent": 80.0, "memory_mib": 2048}, {"percent": None, "memory_mib": None}]
        parts = {"Loss/RPN/<b>$x$": 1.5, "Loss/RPN/box_loss": 2.0, "Loss/RPN/odd": "?"}
        run = write(records=[record(1), record(2, gpus=gpus, losses=parts)], evaluations=[entry(2, 0.5)], best_step=2)
        page = page_of(run)
        assert "<b>$x$" in page.texts and "box_loss" in page.texts
        drawn = [attributes["aria-label"] for tag, attributes in page.elements if tag == "svg"]
        assert drawn == [
            "Loss",
            "Accuracy",
            "Parts of the loss",
            "Learning rate",
            "Images/s",
            "Input wait, % of a step",
            "GPU use, %",
            "GPU memory, GiB",
        ]
        run = write(records=[{"step": 1, "loss": 2.0}], folder="old")
        assert [attributes["aria-label"] for tag, attributes in page_of(run).elements if tag == "svg"] == ["Loss"]


class TestOutcome(object):
    @pytest.mark.parametrize(
        "changes, words",
        [
            ({}, "Finished"),
            ({"outcome": "stopped early"}, "Stopped early"),
            ({"outcome": "stopped", "exit_code": 143}, "Stopped"),
            ({"outcome": "diverged", "exit_code": 4}, "Diverged"),
            ({"outcome": "stalled"}, "Stalled"),
            ({"outcome": "refused"}, "Ended by an error"),
            ({"outcome": "failed", "exit_code": 1}, "Failed"),
            ({"outcome": "running"}, "Killed"),
        ],
    )
    def test_each_is_said(self, changes, words, write):
        found = run_history.read(str(write(changes)))
        assert run_history.outcome(found)[0] == words
        assert f"exit code {changes.get('exit_code', 0)}" in report.page(found) or words == "Killed"

    def test_a_training_that_goes_on_is_not_called_killed(self, write):
        run = write({"outcome": "running", "ended": None, "exit_code": None, "step": None}, [record(7)])
        with open(str(run / ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            text = page_of(run).text
        assert "Running" in text and "The training was going on" in text and "Step | 7 | of 200" in text

    def test_all_starts_are_listed(self, write):
        earlier = [
            {"started": "2026-11-29T10:00:00+0000", "start_step": 0, "outcome": "running"},
            {
                "started": "2026-11-29T11:00:00+0000",
                "ended": "2026-11-29T12:00:00+0000",
                "start_step": 100,
                "step": 150,
                "outcome": "stopped",
                "exit_code": 143,
            },
        ]
        page = page_of(write({"earlier": earlier, "start_step": 150}, [record(1), record(200)]))
        assert "2026-11-29 10:00:00 +0000 | 0 | - | killed" in page.text
        assert "1 h 0 min | 100 | 150 | stopped | 143" in page.text
        assert "2 min 5 s | 150 | 200 | finished | 0" in page.text
        assert "Time | 1 h 2 min | in 2 of 3 starts; the others did not write down their end" in page.text


class TestEvaluations(object):
    def test_a_run_without_one_says_so(self, write):
        text = page_of(write(records=None)).text
        assert "No checkpoint was evaluated yet." in text and "No step was written down yet." in text

    def test_the_best_is_named_with_its_classes_the_highest_first(self, write):
        text = page_of(write(evaluations=[entry(100, 0.6), entry(200, 0.5)], best_step=100)).text
        assert "COCO mAP | 0.600 | mAP@.5IOU 0.700, step 100" in text
        assert "200 | 0.500 | 0.600 | 59 of 59 | moving-average | 100 (best, kept) | 0.600 | 0.700" in text
        assert "By class, step 100 | class | boxes | AP@.5IOU | COCO AP | pug | 30 | 0.750 | 0.625 | Bengal" in text
        assert "1 of 3 classes have no validation box." in text

    def test_the_test_split_stands_apart(self, write):
        run = write(evaluations=[entry(100, 0.6)], best_step=100)
        assert "Test split" not in page_of(run).text
        tested = dict(entry(100, 0.25), time=5.0)
        (run / "eval" / "test_metrics.json").write_text(
            json.dumps({"evaluations": [dict(tested, time=1.0, step=7), tested]})
        )
        text = page_of(run).text
        assert "Test split, step 100 | Held-out images" in text and "100 | 0.250 | 0.350" in text
        assert "COCO mAP | 0.600 | mAP@.5IOU 0.700, step 100" in text and "100 (best, kept) | 0.600" in text

    def test_masks_have_their_columns(self, write):
        masked = entry(9, 0.5, per_class_mask_ap={"pug": 0.375})
        masked["metrics"][MASKS] = 0.375
        text = page_of(write(evaluations=[masked], best_step=9)).text
        assert "Mask COCO mAP | 0.375" in text and "mask COCO AP | pug | 30 | 0.750 | 0.625 | 0.375" in text

    @pytest.mark.parametrize(
        "names, step", [(["detections.png"], 200), (["detections.png", "best_detections.png"], 100), ([], None)]
    )
    def test_the_images_are_those_of_the_step_that_is_said(self, names, step, write):
        run = write(evaluations=[entry(100, 0.6), entry(200, 0.5)], best_step=100)
        for name in names:
            (run / "eval" / name).write_bytes(b"\x89PNG")
        page = page_of(run)
        images = [attributes["src"] for tag, attributes in page.elements if tag == "img"]
        assert images == (["data:image/png;base64,iVBORw=="] if step else [])
        assert (f"Images, step {step}" in page.text) == bool(step)

    def test_evaluations_of_before_the_classes_were_written_down_are_shown(self, write):
        page_of(write(evaluations=[{"step": 3, "metrics": {BOXES: 0.5}}]))


# What would become an element, a value or a statement, were it not escaped or were it taken for a template.
HOSTILE = (
    """</script></pre></title></style><script>alert(1)</script><b a='1' c="2">&amp;{{ 7 * 7 }}{% raw %}{# no #}%}$x$"""
)
# By the field that holds it: what `write` takes.
OUTSIDE = {
    "folder": lambda text: {"folder": text},
    "outcome": lambda text: {"changes": {"outcome": text}},
    "an earlier outcome": lambda text: {"changes": {"earlier": [{"outcome": text}]}},
    "exit code": lambda text: {"changes": {"exit_code": text}},
    "command": lambda text: {"changes": {"command": text}},
    "trainer": lambda text: {"changes": {"settings": {"trainer": text}}},
    "setting": lambda text: {"changes": {"settings": {"run_dir": text}}},
    "config's name": lambda text: {"changes": {"config_file": text}},
    "config line": lambda text: {"changes": {"config": CONFIG + [text]}},
    "feature extractor": lambda text: {
        "changes": {"config": [f"model {{ ssd {{ feature_extractor {{ type: {json.dumps(text)} }} }} }}"]}
    },
    "change in the config": lambda text: {"changes": {"config_changes": [text]}},
    "dataset": lambda text: {"changes": {"dataset": {"name": text}}},
    "dataset's folder": lambda text: {"changes": {"dataset": {"folder": text}}},
    "class": lambda text: {"changes": {"dataset": {"classes": [text]}}},
    "split": lambda text: {"changes": {"dataset": {"shards": {text: []}}}},
    "record file": lambda text: {"changes": {"dataset": {"shards": {"train": [{"file": text}]}}}},
    "checksum": lambda text: {"changes": {"dataset": {"shards": {"train": [{"sha256": text}]}}}},
    "device": lambda text: {"changes": {"devices": {"used": [text]}}},
    "GPU": lambda text: {"changes": {"devices": {"gpus": [text]}}},
    "driver": lambda text: {"changes": {"devices": {"driver": text}}},
    "machine": lambda text: {"changes": {"host": {"machine": text}}},
    "commit": lambda text: {"changes": {"code": {"commit": text}}},
    "API": lambda text: {"changes": {"api": {"commit": text}}},
    "package": lambda text: {"changes": {"versions": {text: "1"}}},
    "version": lambda text: {"changes": {"versions": {"numpy": text}}},
    "weights": lambda text: {"evaluations": [entry(1, 0.5, weights=text)]},
    "number of images": lambda text: {"evaluations": [entry(1, 0.5, images=text)]},
    "measured class": lambda text: {"evaluations": [entry(1, 0.5, per_class_ap={text: 0.5})]},
    "chart label": lambda text: {"records": [record(1, losses={"Loss/a": 1.0, "Loss/" + text: 2.0})]},
}


class TestSafety(object):
    EVIL = '<script>alert("1")</script><img src=x onerror=alert(1)>\'"&$x$</pre></style>'

    def test_no_text_of_others_becomes_an_element(self, write):
        evil = self.EVIL
        run = write(
            {
                "settings": {"trainer": evil, evil: evil},
                "config": CONFIG + ["# " + evil],
                "config_file": evil,
                "config_changes": [evil],
                "command": evil,
                "host": {"machine": evil},
                "versions": {evil: evil},
                "dataset": {
                    "name": evil,
                    "folder": evil,
                    "classes": [evil],
                    "shards": {evil: [{"file": evil, "sha256": evil}]},
                },
                "outcome": evil,
                "started": evil,
                "code": {"commit": evil},
                "api": {"commit": evil},
            },
            [record(1)],
            [entry(1, 0.5, weights=evil, images=evil, per_class_ap={evil: 0.5})],
            folder='<b>"run"&',
        )
        page = page_of(run)
        tags = {tag for tag, _ in page.elements}
        assert not tags & {"script", "b", "link", "iframe", "object"} and "img" not in tags
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
        assert '<b>"run"&' in page.texts and " ".join(evil.split()) in page.texts

    @pytest.mark.parametrize("field", sorted(OUTSIDE))
    def test_text_of_others_is_shown_as_it_is_and_changes_nothing_else(self, field, write):
        text = HOSTILE
        if field == "folder":
            text = text.replace("/", "")
        elif field == "feature extractor":
            text = text.replace('"', "")
        elif field == "chart label":
            # What stands before the last slash common to all labels is left out.
            text = text.replace("Loss/", "")
        page = page_of(write(**OUTSIDE[field](text)))
        assert text in page.text
        harmless = page_of(write(**dict(OUTSIDE[field]("harmless"), folder="harmless")))
        assert [tag for tag, _ in page.elements] == [tag for tag, _ in harmless.elements]

    def test_nothing_is_fetched(self, write):
        run = write(records=[record(step, 20.0 / step) for step in range(1, 100)], evaluations=[entry(2, 0.5)])
        (run / "eval" / "detections.png").write_bytes(b"\x89PNG")
        page = page_of(run)
        for tag, attributes in page.elements:
            for name in ("src", "href", "xlink:href", "data"):
                assert re.match("data:image/png;base64,|#", attributes.get(name) or "#"), (tag, attributes)
        content = (run / "report.html").read_text(encoding="utf-8")
        assert "default-src 'none'" in content and "@import" not in content
        assert re.sub("url\\(#", "", content).count("url(") == 0

    def test_what_the_svgs_refer_to_is_their_own(self, write):
        page = page_of(write(records=[record(1, 3.0), record(2)], evaluations=[entry(2, 0.5)]))
        ids = [
            attributes["id"]
            for tag, attributes in page.elements
            if tag in ("path", "clippath") and "id" in attributes and attributes["id"][0] in "mp"
        ]
        assert len(ids) > 5 and len(ids) == len(set(ids))


class TestCommand(object):
    def test_what_is_no_run_is_refused(self, tmp_path, write):
        assert refusal(tmp_path) == (2, f"{tmp_path} holds no run (no run.json in it).")
        run = write()
        (run / "run.json").write_text("{")
        assert refusal(run) == (3, f"{run / 'run.json'} is damaged: it is not valid JSON.")

    @pytest.mark.parametrize("changes", [{"settings": [1]}, {"dataset": {"shards": 3}}, {"devices": "many"}])
    def test_what_no_training_wrote_is_said(self, changes, write):
        code, what = refusal(write(changes))
        assert code == 3 and "is not as a training or an evaluation wrote it" in what

    def test_at_the_end_of_something_else_a_failure_is_said_and_no_more(self, tmp_path):
        from tfod_train.process.console import Console

        terminal = io.StringIO()
        report.try_write(str(tmp_path), Console(terminal))
        assert f"The report could not be written: {tmp_path} holds no run" in terminal.getvalue()

    def test_a_page_that_is_there_is_replaced_as_a_whole(self, write, monkeypatch):
        run = write(records=[record(1)])
        report.write(str(run))
        before = (run / "report.html").read_bytes()
        monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert refusal(run) == (3, f"{run / 'report.html'} cannot be written: No space left on device.")
        assert (run / "report.html").read_bytes() == before
        assert [name for name in os.listdir(str(run)) if name.endswith(".tmp")] == []


def test_a_year_of_records_makes_a_page_that_can_be_mailed(write):
    run = write(records=[record(step, 1.0 + step % 7) for step in range(1, 20000)])
    report.write(str(run))
    assert (run / "report.html").stat().st_size < 300000
