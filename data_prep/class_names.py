"""Class names of annotations against those of the label map."""

from data_prep.errors import DataError, UsageError

_SHOWN = 5


def read(path):
    """The class names in the label map at path, in the order of their ids, which have to be 1, 2, 3, ...

    Raises UsageError: it is no label map, or its ids have gaps, so that num_classes would not be their number.
    """
    from data_prep import label_map  # and with it protobuf, for those who have such a file

    try:
        names = label_map.read(path).names
    except OSError as error:
        raise UsageError("--label-map %s: %s." % (path, error.strerror), "Name a label map (.pbtxt).")
    except ValueError as reason:
        raise UsageError("--label-map %s cannot be used: %s." % (path, reason), "Correct it, or name another.")
    if sorted(names) != list(range(1, len(names) + 1)):
        raise UsageError(
            "The ids in %s are not 1 to %d without a gap." % (path, len(names)),
            "Number its items from 1: num_classes has to be their number.",
        )
    return tuple(names[number] for number in sorted(names))


def refuse_unknown(found, classes, where):
    """Raises DataError, with the nearest names, if a class name in found is not among classes.

    where: the file or folder that holds the names, for the message.
    """
    unknown = sorted(set(found) - set(classes))
    if not unknown:
        return
    shown = ", ".join(_with_nearest(name, classes) for name in unknown[:_SHOWN])
    more = " and %d more" % (len(unknown) - _SHOWN) if len(unknown) > _SHOWN else ""
    raise DataError(
        "%s names classes that the label map does not have: %s%s." % (where, shown, more),
        "Correct the names or the map; its classes are %s." % _some(classes),
    )


def _with_nearest(name, classes):
    import difflib

    lower = {known.lower(): known for known in classes}
    near = difflib.get_close_matches(name.lower(), list(lower), n=1)
    shown = name or "(an empty name)"
    return "%s (did you mean %s?)" % (shown, lower[near[0]]) if near else shown


def _some(names):
    return ", ".join(names[:4]) + (" and %d more" % (len(names) - 4) if len(names) > 4 else "")
