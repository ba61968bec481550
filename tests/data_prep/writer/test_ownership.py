"""A conversion writes over its own dataset and over nothing else: see the folder before and after."""

import json
import os
import shutil

import pytest

from data_prep.__main__ import main
from data_prep.contact_sheet import draw
from data_prep.mini_pets import generate
from data_prep.writer import ownership


@pytest.fixture
def voc(tmp_path, encode):
    """function(out, *options) -> exit code of converting four images with xml beside them into out."""
    source = tmp_path / "src"
    source.mkdir()
    for number in range(4):
        (source / f"g{number}.jpg").write_bytes(encode())
        (source / f"g{number}.xml").write_text(
            "<annotation><filename>g.jpg</filename><size><width>40</width><height>30</height></size>"
            "<object><name>car</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>20</xmax><ymax>20</ymax></bndbox></object>"
            "</annotation>"
        )
    return lambda out, *options: main(["voc", "--source", str(source), "--out", str(out)] + list(options))


def content(folder):
    return {
        os.path.relpath(os.path.join(parent, name), str(folder)): open(os.path.join(parent, name), "rb").read()
        for parent, _, names in os.walk(str(folder))
        for name in names
    }


@pytest.mark.parametrize(
    "names",
    [
        ["cars_train.record-00000-of-00002", ".x.tmp", "label_map.pbtxt"],
        ["pascal_train.record-00000-of-00001"],
        ["dataset.json"],
        ["label_map.pbtxt"],
        ["notes.txt"],
        [".pascal_train.record.tmp"],
        ["sub/label_map.pbtxt"],
    ],
)
@pytest.mark.parametrize("options", [[], ["--force"]])
def test_files_of_others_are_named_and_stay_as_they_are(names, options, voc, tmp_path, capsys):
    out = tmp_path / "out"
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("{}")
    before = content(out)
    assert voc(out, *options) == 2
    assert names[0].split("/")[0] in capsys.readouterr().err and content(out) == before


def test_somebody_elses_description_is_not_ours_whatever_it_names(voc, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "dataset.json").write_text(json.dumps({"format": 1, "splits": {"train": {"shards": [{"file": "a"}]}}}))
    (out / "a").write_text("theirs")
    assert voc(out) == 2 and (out / "a").read_text() == "theirs"


def test_our_own_dataset_is_written_over_with_other_shards_and_leaves_none_behind(voc, tmp_path):
    out = tmp_path / "out"
    assert voc(out, "--shards", "2") == 0
    assert voc(out, "--shards", "1") == 0 and voc(out, "--shards", "1", "--force") == 0
    assert sorted(os.listdir(str(out))) == [
        ownership.ownership.LIST,
        "dataset.json",
        "label_map.pbtxt",
        "pascal_train.record-00000-of-00001",
        "pascal_val.record-00000-of-00001",
    ]


def test_a_note_beside_our_own_dataset_stays_and_a_complete_dataset_is_still_that(voc, tmp_path, capsys):
    out = tmp_path / "out"
    assert voc(out) == 0
    (out / "notes.txt").write_text("mine")
    assert voc(out) == 0 and "already complete" in capsys.readouterr().out
    before = content(out)
    assert voc(out, "--force") == 2 and voc(out, "--shards", "2") == 2 and content(out) == before


@pytest.mark.parametrize("gone", ["dataset.json", "label_map.pbtxt", "pascal_train.record-00000-of-00001"])
def test_what_a_killed_conversion_left_is_ours(gone, voc, tmp_path):
    out = tmp_path / "out"
    assert voc(out) == 0
    before = content(out)
    (out / gone).unlink()
    (out / ".pascal_val.record-00000-of-00001.77.tmp").write_text("half")
    (out / ".dataset.json.77.tmp").write_text("half")
    assert voc(out) == 0 and content(out) == before


def test_a_dataset_made_before_there_were_lists_is_known_by_its_description(voc, tmp_path):
    out = tmp_path / "out"
    assert voc(out, "--shards", "2") == 0
    (out / ownership.ownership.LIST).unlink()
    assert voc(out, "--shards", "1") == 0
    assert not [name for name in os.listdir(str(out)) if name.endswith("of-00002")]


def test_the_built_in_dataset_is_not_drawn_over_somebodys_raw(tmp_path, capsys):
    out = tmp_path / "mini-pets"
    (out / "raw").mkdir(parents=True)
    (out / "raw" / "mine.jpg").write_text("mine")
    assert main(["mini-pets", "--out", str(out)]) == 2
    assert "raw" in capsys.readouterr().err and content(out) == {"raw/mine.jpg": b"mine"}


def test_the_built_in_dataset_knows_its_own_drawings_of_before_there_were_lists(tmp_path, mini, monkeypatch):
    out = tmp_path / "mini-pets"
    shutil.copytree(str(mini / "raw"), str(out / "raw"))
    monkeypatch.setattr(generate, "_draw_all", lambda raw, workers: None)
    assert main(["mini-pets", "--out", str(out)]) == 0


def test_a_sheet_is_drawn_over_a_sheet_alone(voc, tmp_path, capsys, encode):
    out = tmp_path / "out"
    assert voc(out) == 0
    assert main(["show", str(out)]) == 0 and main(["show", str(out)]) == 0
    assert draw.SOFTWARE.encode() in (out / "contact-sheet.png").read_bytes()
    (out / "contact-sheet.png").write_bytes(encode())
    assert main(["show", str(out)]) == 2 and "is no sheet" in capsys.readouterr().err
    assert (out / "contact-sheet.png").read_bytes() == encode()
    assert voc(out, "--force") == 0
