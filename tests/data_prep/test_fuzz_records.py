"""Damaged records, descriptions and label maps: no traceback, and no damaged byte that goes unnoticed."""

import contextlib
import io
import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from data_prep.__main__ import main
from data_prep.check import inputs, quick, scan
from data_prep.check import problems as findings
from data_prep.contact_sheet import collect
from data_prep.tfrecord import codec
from tests.data_prep.foreign_records import example, image, offsets, write
from tests.data_prep.fuzzing import changed_json, damaged

SOME = settings(deadline=None, max_examples=50, suppress_health_check=HealthCheck.all())


def run(*arguments):
    """(exit code, standard output) of the command line."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(list(arguments))
    assert "Traceback" not in err.getvalue() and (code == 0 or len(err.getvalue().strip().splitlines()) == 2)
    return code, out.getvalue()


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """(path, bytes, where its records begin and it ends) of a shard without a fault."""
    path = write(tmp_path_factory.mktemp("fuzz") / "a.record", *[example(n, texts=["cat"]) for n in range(4)])
    with open(path, "rb") as file:
        return path, file.read(), offsets(path)


@SOME
@given(strategies.data())
def test_a_damaged_record_file_is_an_error_and_every_byte_is_read_or_named(sound, tmp_path_factory, data):
    path, whole, bounds = sound
    content = data.draw(damaged(whole))
    spoilt = str(tmp_path_factory.mktemp("spoilt") / "a.record")
    with open(spoilt, "wb") as file:
        file.write(content)
    code, out = run("check", spoilt, "--json", "--decode", "all")
    # A file that ends between two records is whole, as far as the format goes; one with a record twice is too.
    at_a_bound = content in [whole[:end] for end in bounds[1:]]
    assert code == (0 if at_a_bound else 3)
    report = json.loads(out)
    if not at_a_bound:
        assert report["findings"]
    collect.gather(inputs.find([spoilt]), 3)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A prepared dataset folder without a fault."""
    folder = tmp_path_factory.mktemp("prepared")
    splits = {}
    for split in ("train", "val"):
        name = f"x_{split}.record-00000-of-00001"
        with codec.Writer(str(folder / name)) as writer:
            for number in range(3):
                writer.write(example(number + 10 * (split == "val"), texts=["cat"]))
        splits[split] = {
            "pattern": f"x_{split}.record-?????-of-00001",
            "examples": 3,
            "shards": [{"file": name, "sha256": writer.written.sha256, "bytes": writer.written.bytes, "examples": 3}],
        }
    (folder / "label_map.pbtxt").write_text('item {\n  id: 1\n  name: "cat"\n}\n', encoding="utf-8")
    (folder / "dataset.json").write_text(
        json.dumps(
            {
                "format": quick.FORMAT,
                "name": "x",
                "num_classes": 1,
                "label_map": "label_map.pbtxt",
                "classes": ["cat"],
                "splits": splits,
                "skipped": [],
                "changed": [],
            }
        ),
        encoding="utf-8",
    )
    assert quick.quick(str(folder)) == [] and run("check", str(folder))[0] == 0
    return folder


@contextlib.contextmanager
def replaced(path, content):
    """The file holds content meanwhile."""
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(before)


@SOME
@given(strategies.data())
def test_a_damaged_file_of_a_dataset_never_passes_for_the_whole_one(prepared, data):
    path = prepared / data.draw(
        strategies.sampled_from(
            ("x_train.record-00000-of-00001", "x_val.record-00000-of-00001", "label_map.pbtxt", "dataset.json")
        )
    )
    before = path.read_bytes()
    content = data.draw(damaged(before))
    with replaced(path, content):
        problems = quick.quick(str(prepared))
        code, _ = run("check", str(prepared))
        collect.gather(inputs.find([str(prepared)]), 3, inputs.classes(inputs.find([str(prepared)])))
    if "record" in path.name:
        assert code == (0 if content == before else 3)
        if len(content) != len(before):
            assert problems
    else:
        # A blank more may change no meaning, and the quick check hashes no shard; but it is no stricter.
        assert bool(problems) <= (code == 3)


@SOME
@given(strategies.data())
def test_any_description_is_judged_or_refused(prepared, data):
    path = prepared / "dataset.json"
    content = data.draw(changed_json(json.loads(path.read_text(encoding="utf-8"))))
    with replaced(path, json.dumps(content).encode("utf-8")):
        assert bool(quick.quick(str(prepared))) <= (run("check", str(prepared))[0] == 3)


_LISTS = (
    strategies.lists(strategies.floats(width=32), max_size=4).map(codec.Floats)
    | strategies.lists(strategies.integers(-(2**63), 2**63 - 1), max_size=4).map(codec.Ints)
    | strategies.lists(strategies.binary(max_size=9) | strategies.just(image()) | damaged(image()), max_size=3).map(
        codec.Texts
    )
)
_KEYS = strategies.sampled_from(
    [
        "encoded",
        "format",
        "source_id",
        "height",
        "width",
        "object__class__label",
        "object__class__text",
        "object__mask",
        "object__difficult",
    ]
    + ["object__bbox__" + side for side in ("xmin", "ymin", "xmax", "ymax")]
)


@settings(SOME, max_examples=100)
@given(strategies.dictionaries(_KEYS, _LISTS | strategies.none(), max_size=5))
def test_an_example_of_any_features_is_judged_and_shown(tmp_path_factory, changes):
    path = write(tmp_path_factory.mktemp("any") / "a.record", example(0, **changes))
    options = scan.Options(num_classes=3, resize=scan.input_size("300"), decode=None)
    report = scan.scan(inputs.find([path]), options)
    assert report.records == 1 and json.dumps(report.as_json())
    assert {entry["kind"] for entry in report.as_json()["findings"]} <= set(findings.KINDS)
    collect.gather(inputs.find([path]), 1)


@SOME
@given(strategies.text(max_size=40) | strategies.binary(max_size=40))
def test_any_text_as_label_map_is_read_or_refused(sound, tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("map")
    (folder / "map").write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    code, _ = run("check", sound[0], "--label-map", str(folder / "map"))
    assert code in (0, 2, 3)
    shutil.rmtree(str(folder))
