"""The test split: its own results, with the checkpoint that was chosen without it."""

import json
import types

import pytest

from common.errors import Refused
from tfod_train.checkpoints import best
from tfod_train.evaluation import measure, test_split
from tfod_train.run.run_dir import RunDir

pytestmark = pytest.mark.usefixtures("protos")


class Said(object):
    def __init__(self):
        self.said = []

    def say(self, sentence):
        self.said.append(sentence)

    def table(self, table):
        self.said.append("table")


@pytest.fixture
def run(tmp_path, write_checkpoint, monkeypatch, project_dir, read_settings):
    """A run with checkpoints 2 and 4 on a dataset with a test split of three images; .start() evaluates it."""
    data, folder = tmp_path / "data", tmp_path / "run"
    data.mkdir()
    (folder / "eval").mkdir(parents=True)
    (folder / "eval" / "metrics.json").write_text("untouched")
    splits = {
        name: {"pattern": f"{name}.record", "examples": count, "shards": [{"file": f"{name}.record", "sha256": name}]}
        for name, count in (("train", 5), ("val", 2), ("test", 3))
    }
    for name in splits:
        (data / f"{name}.record").write_bytes(b"")
    description = data / "dataset.json"
    description.write_text(json.dumps({"splits": splits}))
    shards = {name: split["shards"] for name, split in splits.items()}
    (folder / "run.json").write_text(json.dumps({"settings": {}, "dataset": {"folder": str(data), "shards": shards}}))
    with open(f"{project_dir}/tests/end_to_end/scenarios/tiny_ssd.config") as source:
        (folder / "pipeline.config").write_text(source.read())
    for step in (2, 4):
        write_checkpoint(str(folder / f"model.ckpt-{step}"))
    found = types.SimpleNamespace(folder=folder, description=description, splits=splits, evaluated=[])

    def entry(self, checkpoint):
        found.evaluated.append(
            (
                int(checkpoint.rpartition("-")[2]),
                list(self._config.eval_input_reader[0].tf_record_input_reader.input_path),
            )
        )
        return {"step": found.evaluated[-1][0], "metrics": {}, "time": 1.0}

    monkeypatch.setattr(measure.Measure, "entry", entry)
    monkeypatch.setattr(measure.Measure, "show", lambda self, entry: None)
    monkeypatch.setattr(test_split, "Health", lambda: None)

    def start():
        found.console = Said()
        test_split.run(
            read_settings(DEVICE="cpu", RUN_DIR=str(folder), SPLIT="test"), found.console, lambda run_dir: None
        )

    found.start = start
    return found


def test_the_newest_is_taken_where_no_evaluation_chose_one_and_that_is_said(run):
    run.start()
    assert run.evaluated == [(4, [str(run.description.parent / "test.record")])]
    assert "(3 images) with step 4" in run.console.said[0] and "the newest" in run.console.said[0]


def test_the_best_is_taken_where_there_is_one_and_nothing_else_is_touched(run):
    best.keep(str(run.folder), str(run.folder / "model.ckpt-2"), 2, "mAP", 0.5)
    before = (run.folder / "best" / "best.json").read_bytes()
    run.start()
    assert run.evaluated[0][0] == 2 and "the best by its val split" in run.console.said[0]
    (entry,) = json.loads((run.folder / "eval" / "test_metrics.json").read_text())["evaluations"]
    assert entry["split"] == "test" and entry["step"] == 2 and len(entry["checkpoint"]) == 64
    assert (run.folder / "eval" / "metrics.json").read_text() == "untouched"
    assert (run.folder / "best" / "best.json").read_bytes() == before


def test_a_checkpoint_is_evaluated_once(run, write_checkpoint):
    run.start()
    run.start()
    assert len(run.evaluated) == 1 and "Step 4 was evaluated before." in run.console.said
    write_checkpoint(str(run.folder / "model.ckpt-6"))
    run.start()
    steps = [one["step"] for one in json.loads((run.folder / "eval" / "test_metrics.json").read_text())["evaluations"]]
    assert steps == [4, 6]


def change(run, **splits):
    run.splits.update(splits)
    run.description.write_text(json.dumps({"splits": {name: split for name, split in run.splits.items() if split}}))


@pytest.mark.parametrize(
    "spoil, code, words",
    [
        (lambda run: change(run, test=None), 2, "has no test split: it has train, val"),
        (lambda run: change(run, test={"pattern": "x", "examples": 0, "shards": []}), 2, "has no test split"),
        (lambda run: change(run, train={"pattern": "x", "examples": 5, "shards": []}), 3, "holds other records than"),
        (lambda run: run.description.unlink(), 3, "is not in"),
        (lambda run: (run.folder / "run.json").write_text('{"settings": {}}'), 3, "is not in a known folder"),
        (lambda run: (run.description.parent / "test.record").unlink(), 3, "which are evaluated, are not there"),
        (lambda run: (run.folder / "pipeline.config").unlink(), 2, "holds no run"),
        (lambda run: [path.unlink() for path in run.folder.glob("model.ckpt-*")], 3, "holds no checkpoint"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_and_nothing_written(spoil, code, words, run):
    spoil(run)
    with pytest.raises(Refused) as refused:
        run.start()
    assert refused.value.code == code and words in refused.value.what
    assert not (run.folder / "eval" / "test_metrics.json").exists()


def test_a_training_with_it_is_refused(read_settings):
    from tfod_train.commands import train

    with pytest.raises(Refused, match="SPLIT=test has no meaning for a training"):
        train.train(read_settings(SPLIT="test"), Said(), [])


def test_paths_of_results_are_apart():
    out = RunDir("r").evaluations
    assert {out.test_metrics, out.test_detections, out.test_events}.isdisjoint(
        {out.metrics, out.detections, out.best_detections, out.path}
    )
