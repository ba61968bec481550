"""What a contact sheet shows: images to draw, and counts over all records."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

# Box sides as shares of the image's, on a logarithmic scale: BINS_PER_OCTAVE bins from 1/256 to 1.
OCTAVES = 8
BINS_PER_OCTAVE = 3


class Shown(NamedTuple):
    """An image of the sheet. boxes: [(xmin, ymin, xmax, ymax)] as shares; names: of their classes."""

    source_id: str
    encoded: bytes
    boxes: List[Tuple[float, float, float, float]]
    names: List[str]
    masks: List[Any]  # PNG bytes each, or lists of values, or empty
    size: Optional[Tuple[int, int]]  # (width, height) as stated


class Gathered(NamedTuple):
    """What the whole data shows. classes: {(name, split): boxes}. sizes[row][column]: boxes by height, width."""

    images: List[Shown]
    classes: Dict[Tuple[str, str], int]
    sizes: List[List[int]]
    splits: Dict[str, int]  # {split: images}
    boxes: int
    unreadable: int
    odd_boxes: int  # not in the plot, because they are no boxes inside of an image
