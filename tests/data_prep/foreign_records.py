"""TFRecords as people's own scripts write them, and ways to spoil them."""

import io

from PIL import Image

from data_prep.tfrecord import codec

WIDTH, HEIGHT = 40, 30
KINDS = {float: codec.Floats, int: codec.Ints, bytes: codec.Texts, str: codec.Texts}


def image(seed=0, size=(WIDTH, HEIGHT), kind="JPEG", **options):
    out = io.BytesIO()
    Image.new("RGB", size, (seed * 37 % 256, seed * 91 % 256, 60)).save(out, kind, **options)
    return out.getvalue()


def cut_image():
    """A JPEG with a sound head whose second half is missing."""
    whole = image(size=(300, 300))
    return whole[: (len(whole) - 630) // 2 + 630]


def turned_image():
    """A JPEG whose Exif data says to turn it."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return image(exif=exif.tobytes())


def example(number=0, boxes=((0.1, 0.2, 0.5, 0.9),), labels=(1,), texts=None, **changes):
    """A serialised example; changes: key without image/, with __ for / -> values, or None to leave it out."""
    features = {
        "image/encoded": [image(number)],
        "image/format": ["jpeg"],
        "image/source_id": [f"{number}.jpg"],
        "image/height": [HEIGHT],
        "image/width": [WIDTH],
        "image/object/class/label": codec.Ints(labels),
    }
    for side, index in (("xmin", 0), ("ymin", 1), ("xmax", 2), ("ymax", 3)):
        features["image/object/bbox/" + side] = codec.Floats(box[index] for box in boxes)
    if texts is not None:
        features["image/object/class/text"] = codec.Texts(texts)
    features.update({"image/" + key.replace("__", "/"): values for key, values in changes.items()})
    return codec.encode(
        {
            key: values if hasattr(values, "parts") else KINDS[type(values[0])](values)
            for key, values in features.items()
            if values is not None
        }
    )


def write(path, *payloads):
    """A TFRecord file; returns its path as text."""
    with codec.Writer(str(path)) as writer:
        for payload in payloads:
            writer.write(payload)
    return str(path)


def offsets(path):
    """Where each record of a whole file begins, and where the file ends."""
    found = [0]
    for payload in codec.read(str(path)):
        found.append(found[-1] + len(payload) + codec.OVERHEAD_BYTES)
    return found
