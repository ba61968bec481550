"""What all formats do around a conversion: plan, one process at a time, nothing where the dataset is there."""

from data_prep import check, dataset, files
from data_prep.errors import DataError


def prepare(make_plan, out_dir, workers=None, limits=dataset.Limits(), force=False):
    """Convert what make_plan() plans into out_dir; return its dataset.json.

    Does nothing if out_dir already holds the same dataset, unless force; one that was made under more generous
    limits is refused then, as its conversion would be. Raises DataError.
    """
    with files.errors_told():
        plan = make_plan()
    with files.locked(out_dir):
        ready = None if force else check.complete(out_dir, made_from=plan.fingerprint, name=plan.name)
        if ready is None:
            return dataset.write(out_dir, plan, workers, limits)
        try:
            dataset.hold_to_limits(ready, limits)
        except DataError:
            dataset.print_changes(ready)
            raise
        return ready
