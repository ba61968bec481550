"""What a format makes of one image: the answer that goes from a format to the writer."""

from typing import Any, Dict, NamedTuple, Optional, Tuple


class Outcome(NamedTuple):
    """What a format module made of one image.

    features: for `codec.encode`, or None when the image is skipped, and then `skipped` says why.
    forgiven: the skip is a known gap of the dataset, which the limit on skipped images does not count.
    labels: class id of each box. notes: (kind, text) of what was changed: "reencoded", "clipped box",
    "rejected box". source_sha256: of the image file. size: width and height of the image written.
    file: the image's name where its id is not one.
    """

    features: Optional[Dict[str, Any]]
    labels: Tuple[int, ...] = ()
    skipped: Optional[str] = None
    forgiven: bool = False
    notes: Tuple[Tuple[str, str], ...] = ()
    source_sha256: str = ""
    size: Tuple[int, ...] = ()
    file: str = ""
