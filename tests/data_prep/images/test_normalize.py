"""Any image becomes an upright RGB JPEG, and what cannot be decoded is refused with a reason."""

import io
import warnings

import pytest
from hypothesis import given, settings, strategies
from PIL import Image

from data_prep.images import normalize


def opened(upright):
    image = Image.open(io.BytesIO(upright.encoded))
    assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (upright.width, upright.height))
    return image


def test_an_upright_rgb_jpeg_keeps_its_bytes(encode):
    data = encode()
    assert normalize.load(data) == (data, 40, 30, 1, None)


@pytest.mark.parametrize(
    "mode, kind, reason",
    [
        ("RGB", "PNG", "PNG inside"),
        ("RGBA", "PNG", "PNG inside"),
        ("P", "PNG", "PNG inside"),
        ("I", "PNG", "PNG inside"),
        ("1", "PNG", "PNG inside"),
        ("P", "GIF", "GIF inside"),
        ("RGB", "BMP", "BMP inside"),
        ("RGB", "WEBP", "WEBP inside"),
        ("L", "JPEG", "JPEG of mode L"),
        ("CMYK", "JPEG", "JPEG of mode CMYK"),
    ],
)
def test_other_formats_and_modes_are_written_anew(encode, mode, kind, reason):
    image = normalize.load(encode(mode, kind=kind))
    assert image.changed == reason
    assert opened(image).size == (40, 30)


def test_the_colours_survive(encode):
    red, green, blue = opened(normalize.load(encode("RGB", kind="PNG"))).getpixel((5, 15))
    assert abs(red - 200) < 12 and abs(green - 60) < 12 and abs(blue - 60) < 12


def test_sixteen_bits_are_scaled_and_not_cut_off():
    out = io.BytesIO()
    Image.new("I", (8, 8), 128 * 256).save(out, "PNG")
    assert opened(normalize.load(out.getvalue())).getpixel((4, 4)) == (128, 128, 128)


def test_transparency_is_laid_on_white():
    out = io.BytesIO()
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(out, "PNG")
    assert opened(normalize.load(out.getvalue())).getpixel((4, 4)) == (255, 255, 255)


def test_a_turned_image_stands_upright(encode):
    exif = Image.Exif()
    exif[0x0112] = 6
    image = normalize.load(encode(exif=exif.tobytes()))
    assert (image.width, image.height, image.orientation) == (30, 40, 6)
    red, green, blue = opened(image).getpixel((15, 5))  # the left stripe is on top now
    assert red > 150 > green
    assert normalize.load(image.encoded).changed is None


def test_a_image_known_to_be_damaged_is_written_anew(encode):
    assert normalize.load(encode(), damaged=True).changed == "damaged but decodable JPEG"


@pytest.mark.parametrize(
    "kind, cut, reason",
    [
        ("JPEG", slice(0), "empty"),
        ("JPEG", slice(6), "cannot be decoded"),
        ("JPEG", slice(-40), "truncated"),
        ("PNG", slice(60), "decoded"),
    ],
)
def test_what_is_cut_is_refused_with_a_reason(encode, kind, cut, reason):
    with pytest.raises(ValueError, match=reason):
        normalize.load(encode(kind=kind)[cut])


def test_a_web_page_is_refused():
    with pytest.raises(ValueError, match="markup, a web page"):
        normalize.load(b"<html>Sorry</html>")


@settings(deadline=None)
@given(
    strategies.sampled_from(["JPEG", "PNG", "GIF", "BMP"]), strategies.integers(0, 500), strategies.binary(max_size=8)
)
def test_a_broken_file_becomes_a_image_or_a_reason_but_never_another_error(encode, kind, at, junk):
    data = bytearray(encode(kind=kind))
    data[at : at + len(junk)] = junk
    try:
        opened(normalize.load(bytes(data)))
    except ValueError as error:
        assert str(error)


def decodes(data):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Image.open(io.BytesIO(data)).load()
    # Pillow raises nearly every built-in exception on damaged files.
    except Exception:
        return False
    return True


@settings(deadline=None, max_examples=400)
@given(
    strategies.sampled_from([{}, {"quality": 30, "optimize": True}, {"progressive": True}, {"subsampling": 0}]),
    strategies.floats(0, 1),
    strategies.integers(0, 30),
    strategies.binary(max_size=8),
    strategies.booleans(),
)
def test_what_is_taken_without_decoding_it_all_would_decode(encode, options, where, removed, junk, whole):
    data = encode(size=(64, 48), **options)
    at = int(where * len(data))
    data = data[:at] + junk + data[at + removed :]
    # Ends as a whole file ends, as after a download that lost its middle.
    data = data if whole else data + b"\xff\xd9"
    try:
        image = normalize.load(data)
    except ValueError:
        return
    assert decodes(data) and image.encoded


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart": True}])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
def test_a_jpeg_that_is_cut_anywhere_is_refused(encode, options, share):
    data = encode(size=(200, 150), quality=95, **options)
    with pytest.raises(ValueError):
        normalize.load(data[: int(share * len(data))])


@pytest.mark.parametrize(
    "data, kind",
    [
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"GIF89a", "GIF"),
        (b"BM", "BMP"),
        (b"RIFF\0\0\0\0WEBP", "WEBP"),
        (b"II*\0", "TIFF"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_a_file_is_known_by_its_first_bytes(tmp_path, data, kind):
    (tmp_path / "file").write_bytes(data)
    assert normalize.sniff_file(str(tmp_path / "file")) == kind
    assert normalize.sniff_file(str(tmp_path / "missing")) is None


def test_a_image_of_more_pixels_than_pillow_thinks_safe_is_refused(encode, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(ValueError, match="1200 pixels\\) exceeds limit"):
        normalize.load(encode(size=(40, 30)))
