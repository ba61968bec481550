"""Options of the command line that several formats have."""

from argparse import ArgumentParser

from data_prep.images.frame import STORED, UNITS, UPRIGHT

MASKS = ("none", "png", "numerical")


def add_source(parser: ArgumentParser, holds: str) -> None:
    """--source, of a dataset of the user's own.

    Args:
        parser: of the format.
        holds: what lies in that folder.
    """
    parser.add_argument("--source", required=True, metavar="DIR", help=holds)


def add_masks(parser: ArgumentParser, when: str = "") -> None:
    """--masks.

    Args:
        parser: of the format.
        when: what else has to be asked for, as the beginning of the help.
    """
    parser.add_argument(
        "--masks", choices=MASKS, default="none", help=when + "instance masks as PNGs or as floats (default: none)"
    )


def add_label_map(parser: ArgumentParser, otherwise: str) -> None:
    """--label-map.

    Args:
        parser: of the format.
        otherwise: what the classes are without it.
    """
    parser.add_argument("--label-map", metavar="FILE", help=f"the classes (default: {otherwise})")


def add_all(parser: ArgumentParser, holds: str, classes: str, split: str) -> None:
    """What data_prep.source.planning.Options holds, less the masks.

    Args:
        parser: of the format.
        holds: what lies in the source.
        classes: what they are without a label map.
        split: what the source's own split is.
    """
    add_source(parser, holds)
    add_label_map(parser, classes)
    add_split(parser, f"upstream is {split} (default where that is there)")
    parser.add_argument(
        "--val", choices=("test", "train"), help="what validates where the source has images that train and test alone"
    )
    parser.add_argument(
        "--exif",
        choices=(UPRIGHT, STORED),
        help="on which form of images with an Exif orientation boxes were drawn (default: as the sizes show)",
    )
    parser.add_argument(
        "--coordinates", choices=tuple(UNITS), help="the unit of the boxes (default: what the format says)"
    )


def add_split(parser: ArgumentParser, upstream: str) -> None:
    """--split, --val-fraction and --seed, which come to the format as one splits.Choice called split.

    Args:
        parser: of the format.
        upstream: the help of --split: what the dataset's own split is.
    """
    parser.add_argument("--split", choices=("upstream", "random"), help=upstream)
    parser.add_argument(
        "--val-fraction", type=float, metavar="SHARE", help="share of a random split that validates (default: 0.3)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of a random split (default: 42)")
