"""What all formats do around a conversion: plan, one process at a time, nothing where the dataset is there."""

import os
from typing import Any, Callable, Dict, Optional

from common import files
from common.errors import DataError
from data_prep.writer import dataset, ownership


def prepare(
    make_plan: Callable[[], dataset.Plan],
    out_dir: str,
    workers: Optional[int] = None,
    limits: dataset.Limits = dataset.DEFAULT_LIMITS,
    force: bool = False,
) -> Dict[str, Any]:
    """Convert what is planned and return its dataset.json.

    Does nothing if the folder already holds the same dataset, unless forced; one that was made under more generous
    limits is refused then, as its conversion would be.

    Args:
        make_plan: gives the Plan.
        out_dir: where the dataset goes.
        workers: processes, by default one a core.
        limits: how much of it may be unusable.
        force: convert again even if the dataset is complete.

    Raises:
        DataError: the data or the disk is not as needed, or more is unusable than the limits allow.
    """
    with files.file_errors():
        if os.path.isdir(out_dir) and not os.path.exists(os.path.join(out_dir, dataset.DATASET_FILE)):
            # Before annotations are read, which may take minutes. A dataset of ours may turn out to be complete.
            ownership.refuse_foreign(out_dir)
        plan = make_plan()
    with files.locked(out_dir):
        ready = None if force else _complete(out_dir, plan)
        if ready is None:
            for line in plan.lines:
                print(line, flush=True)
            return dataset.write(out_dir, plan, workers, limits)
        # The conversion may have been killed before it did that.
        files.remove_temporaries(out_dir)
        ownership.settle(out_dir)
        try:
            dataset.hold_to_limits(ready, limits)
        except DataError:
            dataset.print_changes(ready)
            raise
        return ready


def _complete(out_dir, plan):
    """The dataset.json in out_dir if nothing is to be done, else None."""
    if not os.path.exists(os.path.join(out_dir, dataset.DATASET_FILE)):
        return None
    from data_prep.check import quick  # and with it protobuf, which takes as long as 50 images

    return quick.complete(out_dir, made_from=plan.fingerprint, name=plan.name)


def dataset_name(out_dir: str) -> str:
    """A dataset of the user's own is called as its folder is."""
    return os.path.basename(os.path.abspath(out_dir))
