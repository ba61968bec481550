"""Which images train and which validate."""

import random
from typing import Any, Dict, Iterable, List, Optional

from common.errors import DataError, UsageError
from data_prep.writer.dataset import Split

# The API's converter of the Oxford pets: random.seed(42), shuffle, the first 70 % train.
UPSTREAM_SEED = 42
UPSTREAM_VAL_FRACTION = 0.3


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
    """What --split, --val-fraction and --seed ask for.

    upstream: True for the dataset's own split, False for a split by seed, None where the format decides.
    Raises UsageError where they contradict each other.
    """

    def __init__(self, split: Optional[str] = None, val_fraction: Optional[float] = None, seed: Optional[int] = None):
        if val_fraction is not None and not 0 < val_fraction < 1:
            raise UsageError(f"--val-fraction {val_fraction:g} is no share between 0 and 1.", "Ask for 0.2, say.")
        given = [name for name, value in (("--val-fraction", val_fraction), ("--seed", seed)) if value is not None]
        if split == "upstream" and given:
            raise UsageError(
                f"--split upstream has its own seed and share, so {' and '.join(given)} would change nothing.",
                "Leave out one or the other.",
            )
        self.upstream = True if split == "upstream" else False if split == "random" or given else None
        self.val_fraction = UPSTREAM_VAL_FRACTION if val_fraction is None else val_fraction
        self.seed = UPSTREAM_SEED if seed is None else seed

    def by_seed(self, ids: Iterable[str]) -> List[Split]:
        """[train, val] of ids, shuffled by the seed."""
        return by_seed(ids, self.val_fraction, self.seed)

    def options(self, upstream: bool) -> Dict[str, Any]:
        """The options that ask for this split: what dataset.json records."""
        if upstream:
            return {"split": "upstream"}
        return {"split": "random", "val_fraction": self.val_fraction, "seed": self.seed}
