"""The options that formats share, and what they come to without a word."""

from argparse import ArgumentParser

import pytest

from data_prep.source import arguments, planning


@pytest.fixture
def parse():
    """function(*arguments) -> the options of a format that has all of them."""
    parser = ArgumentParser()
    arguments.add_all(parser, "images", "those in the data", "folders")
    arguments.add_masks(parser)
    return lambda *given: parser.parse_args(["--source", "mine"] + list(given))


def test_what_is_not_said_is_left_to_the_format(parse):
    options = vars(parse())
    assert options.pop("source") == "mine" and options.pop("masks") == planning.Options().masks
    assert set(options.values()) == {None}
    # Those of planning.Options, but what the command line gives to every format.
    assert set(options) == {"label_map", "split", "val_fraction", "seed", "val", "exif", "coordinates"}


def test_what_is_said_has_its_type(parse):
    options = parse("--val-fraction", "0.2", "--seed", "7", "--exif", "stored", "--coordinates", "percent")
    assert (options.val_fraction, options.seed, options.exif, options.coordinates) == (0.2, 7, "stored", "percent")


@pytest.mark.parametrize(
    "given",
    [
        ("--split", "other"),
        ("--val", "val"),
        ("--exif", "left"),
        ("--coordinates", "cm"),
        ("--masks", "x"),
        ("--seed", "x"),
    ],
)
def test_what_no_option_knows_is_exit_code_2(parse, given, capsys):
    with pytest.raises(SystemExit) as stopped:
        parse(*given)
    assert stopped.value.code == 2 and given[0] in capsys.readouterr().err
