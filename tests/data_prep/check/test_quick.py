"""The quick check before a training: each way in which a dataset can be unfit is found and named."""

import json
import re
import subprocess
import sys

import pytest

from data_prep.check import quick
from data_prep.tfrecord import codec


@pytest.fixture
def prepared(raw, tmp_path):
    raw.convert(tmp_path / "out")
    return tmp_path / "out"


def shard(folder, split="train"):
    return folder / (f"pet_faces_{split}.record-00000-of-00002")


def edit(folder, change):
    path = folder / "dataset.json"
    dataset = json.loads(path.read_text(encoding="utf-8"))
    change(dataset)
    path.write_text(json.dumps(dataset), encoding="utf-8")


def replace_first(folder, **features):
    """Write the train shard anew with other features in its first record, and tell dataset.json its size."""
    payloads = list(codec.read(str(shard(folder))))
    content = codec.decode(payloads[0])
    kinds = {float: codec.Floats, int: codec.Ints, bytes: codec.Texts}
    typed = {key: kinds[type(values[0])](values) for key, values in content.items()}
    for key, values in features.items():
        typed[key.replace("__", "/")] = values
    first = codec.encode({key: value for key, value in typed.items() if value is not None})
    with codec.Writer(str(shard(folder))) as writer:
        for payload in [first] + payloads[1:]:
            writer.write(payload)
    edit(folder, lambda dataset: dataset["splits"]["train"]["shards"][0].update(bytes=writer.written.bytes))


def test_a_prepared_dataset_has_no_problem(prepared):
    assert quick.quick(str(prepared)) == []


@pytest.mark.parametrize(
    "spoil, problem",
    [
        (lambda out: shard(out).unlink(), "pet_faces_train.record-00000-of-00002 is missing"),
        (lambda out: shard(out).write_bytes(b""), "has 0 bytes instead of"),
        (lambda out: shard(out).write_bytes(b"x" * shard(out).stat().st_size), "may be no TFRecord"),
        (lambda out: (out / "label_map.pbtxt").unlink(), "label map .* is missing"),
        (lambda out: (out / "label_map.pbtxt").write_text("item { id: 1 name: 'cat' }"), "do not agree"),
        (lambda out: (out / "label_map.pbtxt").write_text("item { id: 1 }"), "without id or name"),
        (lambda out: (out / "dataset.json").unlink(), "preparation never ended"),
        (lambda out: (out / "dataset.json").write_text("{"), "is not a description of a dataset"),
        (lambda out: (out / "dataset.json").write_text("[]"), "is not a description of a dataset"),
        (lambda out: edit(out, lambda d: d.pop("splits")), "is not a description of a dataset"),
        (lambda out: edit(out, lambda d: d.update(format=9)), "is of format 9; this version reads format 1"),
        (lambda out: edit(out, lambda d: d.update(num_classes=36)), "do not agree"),
        (lambda out: edit(out, lambda d: d["splits"]["val"].update(shards=[], examples=0)), "val split of .* is empty"),
        (lambda out: edit(out, lambda d: d["splits"]["val"].update(examples=99)), "do not add up to 99"),
        (lambda out: (out / "pet_faces_val.record-00007-of-00002").write_bytes(b""), "is no shard of this dataset"),
        (lambda out: replace_first(out, image__encoded=None), "has no image"),
        (lambda out: replace_first(out, image__encoded=codec.Texts([b""])), "has no image"),
        (
            lambda out: replace_first(out, image__object__bbox__xmax=codec.Floats([40.0])),
            "A box is given in pixels .*40, 0.8",
        ),
        (
            lambda out: replace_first(out, image__object__class__label=codec.Ints([0])),
            "class id is outside .*id 0 instead of 1 to 37",
        ),
        (
            lambda out: replace_first(out, image__object__class__label=codec.Ints([1, 1])),
            "different lengths .*class/label 2",
        ),
        (
            lambda out: replace_first(out, image__object__class__text=codec.Texts([b"cow"])),
            "not in the label map.*'cow'",
        ),
        (
            lambda out: replace_first(out, image__object__class__label=codec.Ints([25])),
            "disagree.*pug is 26 in the label map and 25 here",
        ),
        (
            lambda out: replace_first(out, image__object__bbox__xmax=codec.Floats([0.01])),
            "A box is empty or ends before it begins",
        ),
        (lambda out: replace_first(out, image__height=codec.Floats([30.0])), "another type"),
        (lambda out: replace_first(out, image__encoded=codec.Texts([b"GIF"])), "cannot be decoded"),
        (lambda out: (out / "label_map.pbtxt").write_bytes(b"\xff"), "is no label map"),
    ],
)
def test_each_fault_is_named(prepared, spoil, problem):
    spoil(prepared)
    assert re.search(problem, " ".join(quick.quick(str(prepared))))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    assert quick.quick(str(tmp_path / "none")) == [f"There is no folder {tmp_path / 'none'}."]


def test_the_quick_check_of_a_training_imports_neither_tensorflow_nor_numpy_and_is_quick(mini):
    code = (
        "import sys, time; from data_prep.check import quick\nbefore = time.process_time()\n"
        "assert quick.quick(sys.argv[1]) == []\n"
        "print(time.process_time() - before); assert not {'tensorflow', 'numpy'} & set(sys.modules)"
    )
    took = subprocess.run([sys.executable, "-c", code, str(mini)], check=True, stdout=subprocess.PIPE).stdout
    assert float(took) < 1
