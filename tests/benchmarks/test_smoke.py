"""What `make smoke` concludes from what trainings left behind; running it is CI's."""

import json

import pytest

from benchmarks import smoke

A, B = "GPU-a", "GPU-b"
# What a good training shows: percent is that of each GPU in metrics.jsonl, used what nvidia-smi saw.
FOUND = {
    "code": 0,
    "used": {A: 80, B: 70},
    "speeds": (100.0, 300.0, 110.0),
    "map50": 0.9,
    "images": 59,
    "percent": (80.5, 70.0),
}


@pytest.fixture
def left(tmp_path):
    """function(name, **changes) -> Leg with a folder as a good training leaves it.

    changes: those of FOUND, and of run.json.
    """

    def leave(name="run", **changes):
        found = {key: changes.pop(key, value) for key, value in FOUND.items()}
        folder = tmp_path / name
        (folder / "eval").mkdir(parents=True, exist_ok=True)
        whole = {"step": 300, "start_step": 200, "devices": {"count": 2}}
        (folder / "run.json").write_text(json.dumps(dict(whole, **changes)))
        gpus = [{"percent": one} for one in found["percent"]]
        (folder / "metrics.jsonl").write_text(
            "".join(
                json.dumps({"step": step, "images_per_sec": speed, "gpus": gpus}) + "\n"
                for step, speed in enumerate((None,) + found["speeds"])
            )
        )
        metrics = {smoke.MAP50: found["map50"]}
        entry = {"step": 300, "images": found["images"], "images_expected": 59, "metrics": metrics}
        (folder / "eval" / "metrics.json").write_text(json.dumps({"evaluations": [entry]}))
        return smoke.Leg(found["code"], 10.0, str(folder), found["used"])

    return leave


def judge(leg, one=None, kind="gpu", count=2, first=None):
    return smoke.judge("clone", smoke.Plan(kind, count, 300, 0.5), smoke.Legs(first or leg, leg, one))


def failed(checks):
    return [check.what for check in checks if check.passed is False]


def test_a_good_pair_of_trainings_passes_everything(left):
    checks = judge(left(), one=left("one", speeds=(60.0,)))
    assert len(checks) == 8 and all(check.passed for check in checks)
    assert checks[-1].found == "110.0 images/s, on one 60.0"


@pytest.mark.parametrize(
    "change, what",
    [
        ({"code": 5}, "trains"),
        ({"step": 299}, "trains"),
        ({"devices": {"count": 1}}, "uses the devices asked for"),
        ({"start_step": 0}, "resumes"),
        ({"images": 58}, "evaluates every image"),
        ({"map50": 0.49}, "reaches mAP@.50 0.5"),
        ({"used": {A: 80, B: 0}}, "uses every GPU"),
        ({"used": {A: 80}}, "uses every GPU"),
        ({"percent": (80.5,)}, "tells the use of every GPU"),
        ({"percent": (80.5, None)}, "tells the use of every GPU"),
        ({"speeds": (60.0,)}, "is faster on all GPUs than on one"),
        ({"speeds": ()}, "is faster on all GPUs than on one"),
    ],
)
def test_each_broken_promise_is_named_alone(left, change, what):
    assert failed(judge(left(**change), one=left("one", speeds=(60.0,)))) == [what]


def test_what_a_machine_without_gpus_cannot_show_is_skipped_and_said_so(left):
    checks = judge(left(used={}), kind="cpu")
    assert [(check.what, check.found) for check in checks if check.passed is None] == [
        ("uses every GPU", "skipped: no GPU"),
        ("tells the use of every GPU", "skipped: no GPU"),
        ("is faster on all GPUs than on one", "skipped: no GPU"),
    ]
    assert failed(checks) == []


def test_one_gpu_is_not_compared_with_itself(left):
    checks = judge(left(used={A: 50}, percent=(50.0,), devices={"count": 1}), count=1)
    assert failed(checks) == [] and checks[-1].found == "skipped: one GPU"


def test_a_training_that_left_nothing_fails_and_does_not_crash(tmp_path):
    nothing = smoke.Leg(3, 1.0, str(tmp_path / "none"), {})
    assert len(failed(judge(nothing, one=nothing))) == 8


def test_the_answer_of_nvidia_smi_is_read_as_it_is_written():
    assert smoke.parse_use("GPU-a, 97\nGPU-b, [N/A]\n") == [(A, 97), (B, 0)]
    assert smoke.parse_use("") == []


def test_no_setting_of_a_user_changes_what_is_tested():
    names = set(smoke.names_of_settings())
    assert {"TRAINER", "LEARNING_RATE_SCALING", "PIPELINE_CONFIG", "TRAIN_GPUS", "RESUME"} <= names
    assert set(smoke.OF_THE_HOST) <= names


def test_the_summary_is_a_table_with_a_verdict(left):
    checks = [check._asdict() for check in judge(left(map50=0.1), one=left("one", speeds=(60.0,)))]
    text = smoke.markdown(
        {"passed": False, "steps": 300, "devices": "2 GPUs", "seconds": 61.0, "ended": "today", "checks": checks}
    )
    assert text.startswith("### Smoke test: FAILED\n\n300 steps on 2 GPUs, 61 s, today\n")
    assert "| clone | reaches mAP@.50 0.5 | **FAILED** | 0.100 |" in text


@pytest.mark.parametrize("passed, code", [((True, None), 0), ((True, False), 1), ((None, None), 0)])
def test_the_exit_code_and_both_files_say_whether_everything_passed(passed, code, tmp_path, monkeypatch):
    found = [smoke.Check("clone", "trains", one, "made up") for one in passed]
    monkeypatch.setattr(smoke, "ROOT", str(tmp_path))
    monkeypatch.setattr(smoke, "smoke", lambda *_: (found, {}))
    monkeypatch.setenv("DEVICE", "cpu")
    monkeypatch.setattr("sys.argv", ["smoke.py"])
    assert smoke.main() == code
    written = json.loads((tmp_path / "runs" / "smoke" / "smoke.json").read_text())
    assert (written["passed"], sorted(written["trainers"])) == (code == 0, ["clone", "mirrored"])
    assert ("FAILED" in (tmp_path / "runs" / "smoke" / "smoke.md").read_text()) == (code == 1)


@pytest.mark.parametrize("kind, count, on_one", [("cpu", 2, False), ("gpu", 1, False), ("gpu", 4, True)])
def test_each_trainer_trains_goes_on_and_with_several_gpus_is_compared_with_one(kind, count, on_one, left, monkeypatch):
    legs = []

    def train(folder, log, kind, **settings):
        legs.append(settings)
        return left()

    monkeypatch.setattr(smoke, "train", train)
    smoke.smoke("mirrored", smoke.Plan(kind, count, 300, 0.5), "runs/smoke")
    assert [(leg["NUM_STEPS"], leg.get("RESUME"), leg["EVAL_AT_END"]) for leg in legs[:2]] == [
        ("200", None, "0"),
        ("300", "require", "1"),
    ]
    assert {(leg["TRAINER"], leg["NUM_GPUS"]) for leg in legs[:2]} == {("mirrored", str(count))}
    assert [leg["NUM_GPUS"] for leg in legs[2:]] == ["1"] * on_one
    assert len({leg["BATCH_SIZE_PER_GPU"] for leg in legs}) == 1
