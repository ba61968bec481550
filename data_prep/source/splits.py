"""Which images train, which validate and which test: as the source says, else by a seed."""

import random
import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence

from common.errors import DataError, UsageError
from common.text import counted
from data_prep.writer.dataset import Split

# The API's converter of the Oxford pets: random.seed(42), shuffle, the first 70 % train.
UPSTREAM_SEED = 42
UPSTREAM_VAL_FRACTION = 0.3

NAMES = ("train", "val", "test")
_WORDS = {"train": "train", "training": "train", "test": "test", "testing": "test"}
_WORDS.update(dict.fromkeys(("val", "valid", "validation", "dev"), "val"))


def of_word(word: str) -> str:
    """The split that a word means, with or without digits (`val2017`, `Valid`): one of NAMES, or ""."""
    return _WORDS.get(re.sub(r"[-_ ]?\d*$", "", word.strip().casefold()), "")


def of_folders(path: str) -> str:
    """The split that the innermost folder with such a name means, or ""; the file's own name does not count."""
    folders = re.split(r"[/\\]", path)[:-1]
    return next(filter(None, map(of_word, reversed(folders))), "")


def of_path(path: str) -> str:
    """The split that the words in a file's name mean (`instances_train2017.json`), else the one of its folders.

    "" where the name has words of several splits.
    """
    words = {of_word(word) for word in re.split(r"[^a-zA-Z0-9]+", re.split(r"[/\\]", path)[-1])} - {""}
    if words:
        return words.pop() if len(words) == 1 else ""
    return of_folders(path)


def by_seed(ids: Iterable[str], val_fraction: float = UPSTREAM_VAL_FRACTION, seed: int = UPSTREAM_SEED) -> List[Split]:
    """[train, val] of ids, in the order their records will have: shuffled by random.Random(seed), then cut.

    The same ids in the same order give the same split on every machine and Python. The defaults are the API's.

    Raises:
        DataError: one of the two would be empty.
    """
    shuffled = list(ids)
    random.Random(seed).shuffle(shuffled)
    train = int((1 - val_fraction) * len(shuffled))
    if not 0 < train < len(shuffled):
        raise DataError(
            f"{len(shuffled)} images with --val-fraction {val_fraction:g} leave one of the two splits empty.",
            "Add images, or choose another fraction.",
        )
    return [Split("train", shuffled[:train]), Split("val", shuffled[train:])]


class Choice:
    """What --split, --val-fraction, --seed and --val ask for.

    upstream: True for the dataset's own split, False for a split by seed, None where the format decides. val: where the
    source has train and test alone, which of them gives the images that validate; None where that is not said.
    Raises UsageError where they contradict each other.
    """

    def __init__(
        self,
        split: Optional[str] = None,
        val_fraction: Optional[float] = None,
        seed: Optional[int] = None,
        val: Optional[str] = None,
    ):
        if val_fraction is not None and not 0 < val_fraction < 1:
            raise UsageError(f"--val-fraction {val_fraction:g} is no share between 0 and 1.", "Ask for 0.2, say.")
        given = [name for name, value in (("--val-fraction", val_fraction), ("--seed", seed)) if value is not None]
        if split == "upstream" and given and val != "train":
            raise UsageError(
                f"--split upstream has its own seed and share, so {' and '.join(given)} would change nothing.",
                "Leave out one or the other.",
            )
        if split == "random" and val:
            raise UsageError(
                f"--val {val} says which of the source's own splits validates, and --split random sets them aside.",
                "Leave out one or the other.",
            )
        wanted = split or ("upstream" if val else "random" if given else None)
        self.upstream = {"upstream": True, "random": False, None: None}[wanted]
        self.val = val
        self.val_fraction = UPSTREAM_VAL_FRACTION if val_fraction is None else val_fraction
        self.seed = UPSTREAM_SEED if seed is None else seed

    def by_seed(self, ids: Iterable[str]) -> List[Split]:
        """[train, val] of ids, shuffled by the seed."""
        return by_seed(ids, self.val_fraction, self.seed)

    def options(self, upstream: bool) -> Dict[str, Any]:
        """The options that ask for this split: what dataset.json records."""
        if upstream and self.val == "train":
            return {"split": "upstream", "val": "train", "val_fraction": self.val_fraction, "seed": self.seed}
        if upstream:
            return dict({"split": "upstream"}, **({"val": self.val} if self.val else {}))
        return {"split": "random", "val_fraction": self.val_fraction, "seed": self.seed}


class Decision(NamedTuple):
    """splits: those that have images, in the order of NAMES. upstream: they are the source's own. line: says so.

    left_out: ids that the source puts into none of them.
    """

    splits: List[Split]
    upstream: bool
    line: str
    left_out: List[str]


def decide(stated: Mapping[str, str], choice: Choice, where: str) -> Decision:
    """The splits of a source.

    Args:
        stated: {id: one of NAMES, or ""}, in the order that its records will have.
        choice: what was asked for.
        where: the source.

    Raises:
        DataError: it has no split of its own, which was asked for; or there are two readings of the one it has.
    """
    groups = {name: [one for one, split in stated.items() if split == name] for name in NAMES}
    own = [name for name in NAMES if groups[name]]
    if choice.upstream is False or (len(own) < 2 and not choice.upstream):
        aside = f"; the source's own ({', '.join(own)}) is set aside" if len(own) > 1 else ""
        return Decision(choice.by_seed(sorted(stated)), False, _by_seed_line(choice) + aside + ".", [])
    if "train" not in own or len(own) < 2:
        raise DataError(
            f"{where} has no split of its own that trains and validates: {_counts(groups) or 'no image is in one'}.",
            "Leave out --split upstream and --val: --val-fraction and --seed split it.",
        )
    if "val" not in own:
        groups = _with_val(groups, choice, where)
    elif choice.val:
        raise UsageError(
            f"--val {choice.val}: {where} has images that validate ({_counts(groups)}).", "Leave out --val."
        )
    line = f"Split: the source's own, {_counts(groups)}."
    left_out = [one for one, split in stated.items() if not split]
    return Decision([Split(name, groups[name]) for name in NAMES if groups[name]], True, line, left_out)


def _with_val(groups: Dict[str, List[str]], choice: Choice, where: str) -> Dict[str, List[str]]:
    if choice.val == "test":
        return {"train": groups["train"], "val": groups["test"], "test": []}
    if choice.val == "train":
        train, val = choice.by_seed(sorted(groups["train"]))
        return {"train": train.ids, "val": val.ids, "test": groups["test"]}
    raise DataError(
        f"{where} has images that train and images that test, and none that validate: {_counts(groups)}.",
        "Say which: --val test validates with those that test; --val train takes a share (--val-fraction) of those "
        "that train and keeps the test split apart.",
    )


def _counts(groups: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{name} {counted(len(groups[name]), 'image')}" for name in NAMES if groups[name])


def _by_seed_line(choice: Choice) -> str:
    return f"Split: {100 * choice.val_fraction:g} % validate, by the seed {choice.seed}"
