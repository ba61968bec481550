"""The converters' part of the command line: `mini-pets`, `pets`, `voc` and `coco` with their options."""

import os

from common.errors import UsageError

_MASKS = ("none", "png", "numerical")


def add(commands):
    """Add a parser for each format to argparse's subparsers; its `run` gives an exit code."""
    mini = _add(
        commands, "mini-pets", _mini_pets, "draw and convert the built-in dataset: 3 breeds, about 200 pictures"
    )
    _add_output(mini, "data/mini-pets", shards="default: 10")

    pets = _add(commands, "pets", _pets, "convert Oxford-IIIT Pet: 37 breeds, 3,680 pictures")
    pets.add_argument("--source", metavar="DIR", help="a folder with images/ and annotations/ (default: OUT/raw)")
    pets.add_argument(
        "--download",
        action="store_true",
        help="fetch the dataset into OUT/raw first (811 MB; goes on where it was cut off)",
    )
    pets.add_argument(
        "--boxes",
        choices=("faces", "body"),
        default="faces",
        help="what the boxes enclose; body takes them from the trimaps (default: faces)",
    )
    _add_masks(pets, "with --boxes body: ")
    _add_split(pets, "upstream is the API's: seed 42, 0.3 validate (default)")
    _add_limits(pets)
    _add_output(pets, "data/pets", shards="default: 10")

    voc = _add(commands, "voc", _voc, "convert a Pascal VOC folder, or labelImg's or CVAT's xml beside pictures")
    voc.add_argument(
        "--source",
        required=True,
        metavar="DIR",
        help="Annotations/ and JPEGImages/, or pictures and xml anywhere below it",
    )
    _add_label_map(voc, "the names in the data, sorted")
    _add_split(voc, "upstream is ImageSets/Main/train.txt and val.txt (default where they are)")
    _add_limits(voc)
    _add_output(voc, None, shards="default: 10, fewer for under 100 pictures in a split")

    coco = _add(commands, "coco", _coco, "convert COCO instances JSON: boxes, polygons, RLE and crowds")
    coco.add_argument("--source", required=True, metavar="DIR", help="the pictures, anywhere below it")
    coco.add_argument(
        "--annotations",
        nargs="+",
        default=(),
        metavar="JSON",
        help="one file, or train's and val's (default: those in DIR or DIR/annotations)",
    )
    _add_masks(coco)
    _add_label_map(coco, "the categories in the order of their ids")
    _add_split(coco, "upstream is one JSON for train and one for val (default where there are two)")
    _add_limits(coco)
    _add_output(coco, None, shards="default: 10, fewer for under 100 pictures in a split")


def _add(commands, name, run, text):
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def _add_masks(parser, when=""):
    parser.add_argument(
        "--masks", choices=_MASKS, default="none", help=when + "instance masks as PNGs or as floats (default: none)"
    )


def _add_label_map(parser, otherwise):
    parser.add_argument("--label-map", metavar="FILE", help=f"the classes (default: {otherwise})")


def _add_split(parser, upstream):
    parser.add_argument("--split", choices=("upstream", "random"), help=upstream)
    parser.add_argument(
        "--val-fraction", type=float, metavar="SHARE", help="share of a random split that validates (default: 0.3)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of a random split (default: 42)")


def _add_limits(parser):
    parser.add_argument(
        "--max-skipped",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="share of pictures that may be unusable before the run fails (default: 0.02)",
    )
    parser.add_argument("--strict", action="store_true", help="fail if any picture or box cannot be used")


def _add_output(parser, default, shards):
    parser.add_argument(
        "--out",
        default=default,
        required=default is None,
        metavar="DIR",
        help="where the dataset goes" + (" (default: %(default)s)" if default else ""),
    )
    parser.add_argument("--shards", type=int, metavar="N", help=f"files a split ({shards})")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core)")
    parser.add_argument("--force", action="store_true", help="convert again even if the dataset is complete")


def _mini_pets(options):
    from data_prep.mini_pets import generate
    from data_prep.writer import dataset

    generate.prepare(options.out, shards=_shards(options, dataset.SHARDS), workers=options.workers, force=options.force)
    return 0


def _pets(options):
    if options.source and options.download:
        raise UsageError(
            "--source and --download exclude each other.",
            "Use --source for a dataset you have, --download for one you do not.",
        )
    from data_prep.formats import pets
    from data_prep.writer import dataset

    source = options.source or os.path.join(options.out, "raw")
    if options.download:
        from common import download

        download.fetch_pets(source)
    pets.prepare(
        source,
        options.out,
        pets.Options(options.boxes, options.masks, _shards(options, dataset.SHARDS), _split(options)),
        **_common(options),
    )
    return 0


def _voc(options):
    from data_prep.formats import voc

    voc.prepare(
        options.source,
        options.out,
        voc.Options(options.label_map, _shards(options), _split(options)),
        **_common(options),
    )
    return 0


def _coco(options):
    if len(options.annotations) > 2:
        raise UsageError("--annotations takes one JSON, or one for train and one for val.", "Name one or two files.")
    from data_prep.formats import coco

    coco.prepare(
        options.source,
        options.out,
        coco.Options(tuple(options.annotations), options.masks, options.label_map, _shards(options), _split(options)),
        **_common(options),
    )
    return 0


def _shards(options, default=None):
    """--shards, checked here because 0 would mean the default."""
    if options.shards is None:
        return default
    if options.shards < 1:
        raise UsageError(f"--shards {options.shards}: shards count from 1.", "Correct --shards.")
    return options.shards


def _split(options):
    from data_prep.formats.splits import Choice

    return Choice(options.split, options.val_fraction, options.seed)


def _common(options):
    from data_prep.writer.dataset import Limits

    limits = Limits(options.max_skipped, options.strict)
    return {"workers": options.workers, "limits": limits, "force": options.force}
