"""Class names of annotations against those of the label map."""

from typing import Dict, Iterable, Sequence, Tuple

from common.errors import DataError, UsageError
from common.text import nearest
from data_prep.wording import some

_SHOWN = 5


def read(path: str) -> Tuple[str, ...]:
    """The class names in a label map, in the order of their ids, which have to be 1, 2, 3, ...

    Raises:
        UsageError: it is no label map, or its ids have gaps, so that num_classes would not be their number.
    """
    from data_prep.tfrecord import label_map  # and with it protobuf, for those who have such a file

    try:
        names = label_map.read(path).names
    except OSError as error:
        raise UsageError(f"--label-map {path}: {error.strerror}.", "Name a label map (.pbtxt).") from error
    except ValueError as reason:
        raise UsageError(f"--label-map {path} cannot be used: {reason}.", "Correct it, or name another.") from reason
    if sorted(names) != list(range(1, len(names) + 1)):
        raise UsageError(
            f"The ids in {path} are not 1 to {len(names)} without a gap.",
            "Number its items from 1: num_classes has to be their number.",
        )
    return tuple(names[number] for number in sorted(names))


def ids_of(classes: Sequence[str]) -> Dict[str, int]:
    """{name: id} of names in the order of their ids, which count from 1."""
    return {name: number for number, name in enumerate(classes, 1)}


def refuse_unknown(found: Iterable[str], classes: Sequence[str], where: str) -> None:
    """Refuse class names that the label map does not have.

    Args:
        found: names in the data.
        classes: names in the label map.
        where: the file or folder that holds the data, for the message.

    Raises:
        DataError: there is such a name; the nearest ones are in the message.
    """
    unknown = sorted(set(found) - set(classes))
    if not unknown:
        return
    shown = [_with_nearest(name, classes) for name in unknown[:_SHOWN]]
    raise DataError(
        f"{where} names classes that the label map does not have: {some(shown, len(unknown), _SHOWN)}.",
        f"Correct the names or the map; its classes are {some(classes, len(classes), 4)}.",
    )


def _with_nearest(name, classes):
    lower = {known.lower(): known for known in classes}
    near = nearest(name.lower(), lower)
    shown = name or "(an empty name)"
    return f"{shown} (did you mean {lower[near]}?)" if near else shown
