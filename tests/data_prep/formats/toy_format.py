"""A whole format in one module: lines of `image.jpg class xmin ymin xmax ymax` in boxes.txt beside the images."""

import os
from argparse import ArgumentParser
from typing import NamedTuple, Optional

from data_prep.images import example_features
from data_prep.images.boxes import Box
from data_prep.source import arguments
from data_prep.source.annotation import Annotation, Object
from data_prep.source.class_names import ids_of
from data_prep.source.splits import Choice
from data_prep.writer import dataset


class Options(NamedTuple):
    lines: str = "boxes.txt"
    shards: Optional[int] = None
    split: Choice = Choice()


def add_options(parser: ArgumentParser) -> None:
    arguments.add_source(parser, "images and boxes.txt")
    arguments.add_split(parser, "there is none")
    parser.add_argument("--lines", default="boxes.txt", metavar="NAME", help="of the text file")


class Converter:
    def __init__(self, folder: str, objects: dict, recipe: example_features.Recipe):
        self._folder, self._objects, self._recipe = folder, objects, recipe

    def __call__(self, name: str) -> dataset.Outcome:
        try:
            data = example_features.read_file(os.path.join(self._folder, name))
            source = example_features.Source(name, name, data)
            return example_features.convert(source, Annotation(0, 0, self._objects[name]), self._recipe)
        except ValueError as reason:
            return dataset.Outcome(None, skipped=str(reason))


def plan(source: str, name: str, options: Options) -> dataset.Plan:
    objects: dict = {}
    with open(os.path.join(source, options.lines), encoding="utf-8") as lines:
        for image, class_name, *sides in map(str.split, lines):
            objects.setdefault(image, []).append(Object(Box(*map(float, sides)), class_name))
    classes = sorted({item.name for found in objects.values() for item in found})
    splits = options.split.by_seed(sorted(objects))
    return dataset.Plan(
        name=name,
        classes=classes,
        prefix="toy",
        splits=splits,
        convert=Converter(source, objects, example_features.Recipe(ids_of(classes))),
        shards=options.shards or dataset.shards_for(splits),
        fingerprint={"format": "toy", "objects": sorted(objects)},
        extra={},
    )
