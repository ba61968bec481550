"""What a contact sheet shows: images to draw, and counts over all records."""

from typing import NamedTuple

# Box sides as shares of the image's, on a logarithmic scale: BINS_PER_OCTAVE bins from 1/256 to 1.
OCTAVES = 8
BINS_PER_OCTAVE = 3


class Shown(NamedTuple):
    """An image of the sheet. boxes: [(xmin, ymin, xmax, ymax)] as shares; names: of their classes."""

    source_id: str
    encoded: bytes
    boxes: list
    names: list
    masks: list  # PNG bytes each, or lists of values, or empty
    size: tuple  # (width, height) as stated, or None


class Gathered(NamedTuple):
    """What the whole data shows. classes: {(name, split): boxes}. sizes[row][column]: boxes by height, width."""

    images: list
    classes: dict
    sizes: list
    splits: dict  # {split: images}
    boxes: int
    unreadable: int
    odd_boxes: int  # not in the plot, because they are no boxes inside of an image
