"""The contact sheet: the same images every time, every class among them, nothing left out without a word."""

import io

import pytest
from PIL import Image

from data_prep.__main__ import main
from data_prep.check import inputs
from data_prep.contact_sheet import collect, draw
from data_prep.tfrecord import codec
from tests.data_prep import foreign_records as foreign
from tests.data_prep.foreign_records import example, write

NAMES = ("cat", "dog", "\u732b", "\u03b3\u03ac\u03c4\u03b1 $", "a name that is much longer than a label can be")


def some(path, count=30):
    return write(path, *[example(n, texts=[NAMES[n % 2]], labels=[n % 2 + 1]) for n in range(count)])


def ids(gathered):
    return [image.source_id for image in gathered.images]


def gather(*paths, **options):
    return collect.gather(inputs.find([str(path) for path in paths]), options.pop("count", 12), **options)


def test_the_choice_is_the_same_whatever_the_shards_and_the_order(tmp_path):
    payloads = [example(n, texts=[NAMES[n % 2]], labels=[n % 2 + 1]) for n in range(30)]
    write(tmp_path / "one.record", *payloads)
    write(tmp_path / "a.record-00000-of-00002", *payloads[20:])
    write(tmp_path / "a.record-00001-of-00002", *payloads[:20])
    assert ids(gather(tmp_path / "one.record")) == ids(gather(tmp_path / "a.record-*"))
    assert len(set(ids(gather(tmp_path / "one.record")))) == 12
    assert len(gather(tmp_path / "one.record", count=50).images) == 30


def test_a_rare_class_is_on_the_sheet_and_counts_are_per_class_and_split(tmp_path):
    write(
        tmp_path / "train.record",
        *[example(n, texts=["cat"]) for n in range(40)]
        + [example(99, texts=["dog", "dog"], labels=[2, 2], boxes=[(0, 0, 0.5, 0.5)] * 2)],
    )
    write(tmp_path / "val.record", *[example(n, texts=["cat"]) for n in range(50, 55)])
    gathered = gather(tmp_path, count=3)
    assert "99.jpg" in ids(gathered) and len(gathered.images) == 3
    assert gather(tmp_path, count=1).images[0].names == ["cat"]
    assert gathered.classes == {("cat", "train"): 40, ("dog", "train"): 2, ("cat", "val"): 5}
    assert (gathered.splits, gathered.boxes) == ({"train": 41, "val": 5}, 47)


def test_the_label_map_names_the_classes_and_what_it_lacks_is_said(tmp_path):
    (tmp_path / "map").write_text("item { id: 1 name: 'Katze' display_name: 'cat' }", encoding="utf-8")
    path = write(tmp_path / "val.record", example(0, texts=["cat"]), example(1, labels=[7]), example(2, texts=["cow"]))
    classes = gather(path, label_map=inputs.read_label_map(str(tmp_path / "map"))).classes
    assert set(classes) == {
        ("Katze", "val"),
        ("class 7 (not in the label map)", "val"),
        ("cow (not in the label map)", "val"),
    }
    assert set(gather(path).classes) == {("cat", "val"), ("class 7", "val"), ("cow", "val")}


def test_the_sheet_has_the_images_their_boxes_and_their_masks(tmp_path):
    """Pixels: the colour of the box somewhere, the mask's over its half of the image, the image elsewhere."""
    mask = Image.new("L", (40, 30))
    mask.paste(255, (0, 0, 20, 30))
    out = io.BytesIO()
    mask.save(out, "PNG")
    white = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(white, "JPEG")
    plain = dict(encoded=[white.getvalue()], boxes=[(0.5, 0.5, 0.9, 0.9)], texts=["cat"])
    path = write(tmp_path / "a.record", example(0, **plain))
    masked = write(tmp_path / "b.record", example(0, object__mask=[out.getvalue()], **plain))
    numerical = write(
        tmp_path / "c.record",
        example(0, object__mask=codec.Floats(float(x < 20) for _ in range(30) for x in range(40)), **plain),
    )
    assert main(["show", path, "--out", str(tmp_path / "a.png")]) == 0
    sheets = {
        name: Image.open(io.BytesIO(draw.draw(gather(file), "x"))).convert("RGB")
        for name, file in (("plain", path), ("png", masked), ("numerical", numerical))
    }
    assert Image.open(str(tmp_path / "a.png")).size == sheets["plain"].size
    red = tuple(int(draw.COLOURS[0][at : at + 2], 16) for at in (1, 3, 5))
    # The one image takes the first of four columns below the title.
    tile = {name: sheet.crop((0, 50, 350, 330)) for name, sheet in sheets.items()}
    assert all(red in {colour for _, colour in image.getcolors(10**6)} for image in tile.values())
    assert tile["plain"].getpixel((80, 60)) == (255, 255, 255)
    mixed = tuple(int(255 + (channel - 255) * 0.45) for channel in red)
    for name in ("png", "numerical"):
        assert all(abs(a - b) <= 3 for a, b in zip(tile[name].getpixel((80, 60)), mixed))
        assert tile[name].getpixel((200, 60)) == (255, 255, 255)


def test_whatever_the_records_hold_there_is_a_sheet_that_says_what_it_leaves_out(tmp_path, capsys, recwarn):
    payloads = [
        example(0, texts=["$\\frac{"]),
        example(1, boxes=[(4, 6, 20, 27), (float("nan"), 0, 1, 1)], labels=[1, 1]),
        example(2, encoded=[b"nothing"]),
        example(3, encoded=[foreign.cut_image()]),
        example(4, encoded=None),
        example(5, boxes=[(0.1, 0.1, 0.9, 0.9)] * 40, labels=[1] * 40),
        example(6, boxes=(), labels=()),
        b"\xff",
        example(7, labels=()),
        example(8, source_id=None),
        example(9, object__mask=[b"nothing"], width=[0]),
        example(10, object__mask=[1.0] * 7),
        example(11, texts=["\u732b\U0001f431\x00\u200f"], source_id=["\u732b.jpg"]),
        example(12, object__bbox__xmin=None),
        example(13, width=["wide"]),
    ]
    path = write(tmp_path / "a.record", *payloads)
    with open(path, "ab") as file:
        file.write(b"torn")
    assert main(["show", path]) == 0
    message = capsys.readouterr().out
    assert "contact-sheet.png shows 12 of 14 images" in message
    assert "2 records cannot be read and 2 boxes do not lie in their image" in message
    assert "no font here can show" in message
    assert Image.open(str(tmp_path / "contact-sheet.png")).width == 1400
    assert not [warning for warning in recwarn.list if "glyph" in str(warning.message).lower()]


def test_the_same_data_gives_the_same_bytes(tmp_path):
    gathered = gather(some(tmp_path / "a.record"))
    assert draw.draw(gathered, "a") == draw.draw(gathered, "a")


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["OUT/none.record"], 3, "no file or folder"),
        (["OUT/a.record", "--count", "0"], 2, "--count 0 is not between"),
        (["OUT/a.record", "--out", "OUT/sheet.jpg"], 2, "does not end in .png"),
        (["OUT/a.record", "--out", "OUT/none/sheet.png"], 3, "No such file or directory"),
        (["OUT/broken.record"], 3, "holds no record that can be read"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_what_to_do(tmp_path, capsys, arguments, code, message):
    some(tmp_path / "a.record", 3)
    (tmp_path / "broken.record").write_bytes(b"hello, I am no record")
    assert main(["show"] + [argument.replace("OUT", str(tmp_path)) for argument in arguments]) == code
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 2 and message in lines[0] and not (tmp_path / "sheet.jpg").exists()


def test_a_sheet_of_a_dataset_folder_leaves_the_dataset_fit(mini, tmp_path):
    assert main(["show", str(mini), "--out", str(tmp_path / "s.png"), "--count", "4"]) == 0
    assert sorted(gather(mini, count=4).splits.items()) == [("train", 135), ("val", 59)]
