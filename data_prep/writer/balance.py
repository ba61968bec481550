"""What is unusual about a dataset as a whole: splits without boxes, classes in one split, images in two."""

import collections
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from common.text import counted
from data_prep.wording import some

_SHOWN = 3
DIGEST_BYTES = 8  # of an image's checksum: enough to tell a million images apart


def of_counts(boxes: Mapping[str, Mapping[str, int]]) -> List[Tuple[str, str]]:
    """What the numbers of boxes show.

    Args:
        boxes: {split: {class: boxes}}.

    Returns:
        (what, sentence): "split-without-boxes" or "class-in-one-split".
    """
    totals = {split: sum(counts.values()) for split, counts in boxes.items()}
    found = [
        ("split-without-boxes", f"no image of {split} has a box: {_CONSEQUENCES.get(split, _MEASURED)}")
        for split, total in totals.items()
        if not total and any(totals.values())
    ]
    splits = [split for split, total in totals.items() if total]
    for name in sorted({name for counts in boxes.values() for name in counts}):
        there = {split: boxes[split].get(name, 0) for split in splits}
        missing = [split for split, count in there.items() if not count]
        if missing and len(missing) < len(splits):
            text = ", ".join(f"{counted(count, 'box', 'boxes')} in {split}" for split, count in there.items())
            found.append(("class-in-one-split", f"{name} has {text}"))
    return found


_MEASURED = "what is measured on it says nothing"
_CONSEQUENCES = {"train": "a model learns from it that nothing is there"}


def of_images(splits: Sequence[Tuple[str, Sequence[str], bytes]]) -> List[str]:
    """Images that several splits share, byte for byte, as sentences.

    Args:
        splits: (name, ids of its images, the first DIGEST_BYTES of the checksum of each image file, joined; zeros
            for what was not converted).
    """
    nothing = bytes(DIGEST_BYTES)
    where: Dict[bytes, List[Tuple[str, str]]] = collections.defaultdict(list)
    for name, ids, digests in splits:
        for place, image_id in enumerate(ids):
            digest = digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES]
            if digest != nothing:
                where[digest].append((name, image_id))
    groups: Dict[Tuple[str, ...], List[str]] = collections.defaultdict(list)
    for found in where.values():
        names = tuple(collections.OrderedDict.fromkeys(name for name, _ in found))
        if len(names) > 1:
            groups[names].append(" = ".join(image_id for _, image_id in found[:_SHOWN]))
    return [
        f"{counted(len(shared), 'image')} of {', '.join(names)} {'is' if len(shared) == 1 else 'are'} the same "
        f"file: {some(shared, len(shared), _SHOWN)}"
        for names, shared in sorted(groups.items())
    ]


def of_classes(splits: Mapping[str, Mapping[str, Any]]) -> List[str]:
    """A sentence of the classes that nobody labelled, or none.

    Args:
        splits: of a dataset.json.
    """
    boxes = [split["boxes_per_class"] for split in splits.values()]
    names = [name for name in (boxes[0] if boxes else ()) if not any(counts.get(name) for counts in boxes)]
    if not names:
        return []
    verb = "has" if len(names) == 1 else "have"
    return [f"{counted(len(names), 'class', 'classes')} {verb} no box at all: {some(names, len(names), _SHOWN)}"]


def warnings(splits: Mapping[str, Mapping[str, Any]], images: Sequence[Tuple[str, Sequence[str], bytes]]) -> List[str]:
    """What tells of splits and of images.

    Args:
        splits: of its dataset.json.
        images: of of_images.
    """
    boxes = {name: split["boxes_per_class"] for name, split in splits.items()}
    return [sentence for _, sentence in of_counts(boxes)] + of_images(images)
