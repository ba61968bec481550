"""The boxes of a sample of a dataset's training images."""

import itertools
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from data_prep.tfrecord import example_rules, label_map, tolerant_reader
from tfod_train.config.dataset import Dataset

# Reading them takes a second at most; a class that no anchor fits shows in fewer.
IMAGES_LOOKED_AT = 500


class Image(NamedTuple):
    """size: (width, height), px. boxes: (xmin, ymin, xmax, ymax) each, as shares of the sides. classes: a name each."""

    size: Tuple[int, int]
    boxes: List[Tuple[float, float, float, float]]
    classes: List[Optional[str]]


def sample(dataset: Dataset) -> Iterator[Image]:
    """Images of the training split, from each shard alike. Records that cannot be read are the check's to tell."""
    shards = dataset.files("train")
    classes = label_map.read(dataset.label_map)
    each = -(-IMAGES_LOOKED_AT // max(len(shards), 1))
    for shard in shards[:IMAGES_LOOKED_AT]:
        for read in itertools.islice(tolerant_reader.scan(shard), each):
            image = _image(read, classes)
            if image is not None:
                yield image


def _image(read: Any, classes: Any) -> Optional[Image]:
    try:
        features = example_rules.parse(read.payload) if read.payload is not None else {}
    except ValueError:
        return None
    size = example_rules.stated_size(features)
    if size is None or min(size) < 1:
        return None
    names = [classes.names.get(number) for number in example_rules.class_ids(features, classes)]
    return Image(size, example_rules.boxes(features), names)


class Sample(NamedTuple):
    """Sound boxes of all sampled images together.

    boxes: float array [n, 4], shares of the image's sides. kinds: int array [n], place in names. sizes: int array
    [n, 2], (width, height) of each box's image, px. names: of the classes that have boxes, sorted. images: how many.
    """

    boxes: Any
    kinds: Any
    sizes: Any
    names: List[str]
    images: int

    def boxes_by_class(self) -> Dict[str, int]:
        """Boxes by class."""
        return {name: int((self.kinds == number).sum()) for number, name in enumerate(self.names)}


def gather(images: Iterator[Image]) -> Sample:
    """The Sample of images; a box that is none, or of no class, is left out."""
    import numpy as np

    boxes, names, sizes, count = [], [], [], 0
    for image in images:
        count += 1
        for box, name in zip(image.boxes, image.classes):
            if name is not None and 0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1:
                boxes.append(box)
                names.append(str(name))
                sizes.append(image.size)
    known = sorted(set(names))
    kinds = np.array([known.index(name) for name in names], dtype=int)
    return Sample(np.array(boxes, dtype=float).reshape(-1, 4), kinds, np.array(sizes).reshape(-1, 2), known, count)
