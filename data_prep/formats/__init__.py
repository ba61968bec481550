"""One module a dataset format: what people bring becomes a Plan that the writer carries out.

A format is a module and its line in FORMATS. The module is imported when the format is asked for, as it may need
Pillow and more, for which `--help` does not wait. It has

- Options: a NamedTuple whose fields are options of the command line, all with defaults;
- add_options(parser): adds these to argparse's parser, and `--source` (data_prep.source.arguments has what formats
  share, and `--out`, `--shards` and others are there for all of them);
- plan(source, name, options): the data_prep.writer.dataset.Plan of converting the folder source into a dataset called
  name;
- fetch(folder), for a published dataset: downloads it into folder.
"""

import importlib
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any, List, NamedTuple

if TYPE_CHECKING:
    from data_prep.writer.dataset import Plan


class Format(NamedTuple):
    """A sub-command that converts.

    name: of the sub-command, and in dataset.json. help: one line for people. module: what holds the format. published:
    it is one dataset, which is called as its format is and can be downloaded; otherwise it is the user's own, called as
    its folder is.
    """

    name: str
    help: str
    module: str
    published: bool = False

    def add_options(self, parser: ArgumentParser) -> None:
        """Adds the format's own options."""
        self._load().add_options(parser)

    def plan(self, source: str, name: str, options: Any) -> "Plan":
        """The Plan of a conversion.

        Args:
            source: the folder to convert.
            name: of the dataset.
            options: argparse's, or the module's Options.
        """
        module = self._load()
        given = {field: getattr(options, field) for field in module.Options._fields if hasattr(options, field)}
        return module.plan(source, name, module.Options(**given))

    def fetch(self, folder: str) -> None:
        """Downloads a published dataset into folder."""
        self._load().fetch(folder)

    def _load(self) -> Any:
        return importlib.import_module(self.module)


FORMATS: List[Format] = [
    Format("pets", "convert Oxford-IIIT Pet: 37 breeds, 3,680 images", "data_prep.formats.pets", published=True),
    Format("voc", "convert a Pascal VOC folder, or labelImg's or CVAT's xml beside images", "data_prep.formats.voc"),
    Format("coco", "convert COCO instances JSON: boxes, polygons, RLE and crowds", "data_prep.formats.coco"),
    Format("yolo", "convert YOLO's text files, with data.yaml or classes.txt", "data_prep.formats.yolo"),
    Format(
        "csv",
        "convert CSV files: labelImg's, TensorFlow tutorials', RetinaNet's, Open Images'",
        "data_prep.formats.csv_boxes",
    ),
    Format("labelme", "convert LabelMe's JSON files", "data_prep.formats.labelme"),
    Format("via", "convert the VGG Image Annotator's JSON", "data_prep.formats.via"),
    Format("kitti", "convert KITTI's label files", "data_prep.formats.kitti"),
    Format("label-studio", "convert Label Studio's JSON", "data_prep.formats.label_studio"),
    Format("vott", "convert VoTT's JSON", "data_prep.formats.vott"),
]
