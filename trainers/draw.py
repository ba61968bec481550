"""Draws detections on pictures, as a sheet that people look at."""
import glob
import io

import numpy as np

CELL = 320
COLUMNS = 4
MIN_SCORE = 0.5
COLOURS = ("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#008080", "#9a6324", "#800000", "#808000",
           "#000075")


def sheet(pictures, names, title):
    """PNG bytes of a sheet: each picture with its detections (solid, named) and true boxes (dashed white).

    Args:
        pictures: list of trainers.evaluate.Picture.
        names: class names in id order; class ids start at 1.
        title: line above the sheet.
    """
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    columns = min(COLUMNS, max(1, len(pictures)))
    rows = max(1, -(-len(pictures) // columns))
    figure, axes = pyplot.subplots(rows, columns, squeeze=False,
                                   figsize=(columns * CELL / 100.0, rows * CELL / 100.0 + 0.3), dpi=100)
    for axis in axes.flat:
        axis.axis("off")
    for axis, picture in zip(axes.flat, pictures):
        _draw(axis, picture, names)
    figure.suptitle(title, fontsize=11, y=0.995)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.15 / rows), pad=0.4)
    png = io.BytesIO()
    figure.savefig(png, format="png")
    pyplot.close(figure)
    return png.getvalue()


def with_originals(pictures, patterns):
    """The pictures with the records' own image in place of the one the model saw, which is small and squeezed.

    Args:
        pictures: list of trainers.evaluate.Picture.
        patterns: file name patterns of the records they come from.
    """
    from PIL import Image
    from data_prep import records
    wanted = {picture.source_id for picture in pictures if picture.source_id}
    originals = {}
    for path in sorted(path for pattern in patterns for path in glob.glob(pattern)):
        for payload in records.read(path):
            features = records.decode(payload)
            source_id = b"".join(features.get("image/source_id", [])).decode("utf-8")
            if source_id in wanted:
                image = Image.open(io.BytesIO(features["image/encoded"][0])).convert("RGB")
                image.thumbnail((2 * CELL, 2 * CELL))
                originals[source_id] = np.asarray(image)
    return [picture._replace(image=originals.get(picture.source_id, picture.image)) for picture in pictures]


def _draw(axis, picture, names):
    from matplotlib.patches import Rectangle
    height, width = picture.size
    axis.imshow(picture.image, extent=(0, width, height, 0), interpolation="bicubic")
    for ymin, xmin, ymax, xmax in np.asarray(picture.true_boxes):
        axis.add_patch(Rectangle((xmin, ymin), xmax - xmin, ymax - ymin, fill=False, linewidth=1.2, linestyle="--",
                                 edgecolor="white"))
    for box, score, class_id in zip(picture.boxes, picture.scores, picture.classes):
        if score < MIN_SCORE:
            continue
        ymin, xmin, ymax, xmax = box
        colour = COLOURS[(int(class_id) - 1) % len(COLOURS)]
        axis.add_patch(Rectangle((xmin, ymin), xmax - xmin, ymax - ymin, fill=False, linewidth=2, edgecolor=colour))
        axis.text(xmin, max(ymin, 0), "%s %.2f" % (names[int(class_id) - 1], score), fontsize=7, color="white",
                  verticalalignment="bottom", clip_on=True,
                  bbox={"facecolor": colour, "edgecolor": "none", "pad": 1})


def on_picture(image, boxes, scores, classes, labels):
    """A copy of a picture with named boxes, at its own size.

    Args:
        image: RGB Pillow image.
        boxes: [n, 4] in pixels: ymin, xmin, ymax, xmax.
        scores: [n]; classes: [n], ids from 1, which choose the colour; labels: n class names.
    """
    from PIL import ImageDraw, ImageFont
    from matplotlib import font_manager
    drawn = image.copy()
    pen = ImageDraw.Draw(drawn)
    # As large as can be read when the picture fills a screen.
    size = max(10, int(round(max(image.size) / 45.0)))
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
    # The best last, so that its name is on top.
    for index in np.argsort(scores):
        ymin, xmin, ymax, xmax = boxes[index]
        colour = COLOURS[(int(classes[index]) - 1) % len(COLOURS)]
        pen.rectangle((xmin, ymin, xmax, ymax), outline=colour, width=max(2, size // 6))
        text = "%s %.2f" % (labels[index], scores[index])
        width, height = pen.textsize(text, font=font)
        left = min(max(xmin, 0), max(image.width - width - 4, 0))
        # Above the box, or inside of it where the picture ends.
        top = ymin - height - 4 if ymin >= height + 4 else ymin
        pen.rectangle((left, top, left + width + 4, top + height + 4), fill=colour)
        pen.text((left + 2, top + 1), text, fill="white", font=font)
    return drawn
