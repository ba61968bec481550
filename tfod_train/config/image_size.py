"""IMAGE_SIZE: the size of the model's input, put into the config's image_resizer."""

from typing import Any, Callable, Tuple

from common.errors import SETTINGS_REFUSED, Refused

Set = Callable[[Any, str, Any], None]


def sides(text: str) -> Tuple[int, int]:
    """(width, height) in px of a side or of WIDTHxHEIGHT, as the setting was checked to be."""
    width, _, height = text.partition("x")
    return int(width), int(height or width)


def use(resizer: Any, text: str, put: Set) -> None:
    """Sets an ImageResizer message to a size.

    Args:
        resizer: of the model; fixed_shape_resizer gets the size; keep_aspect_ratio_resizer the shorter side and the
            limit of the longer one, which keeps its proportion where one side alone is given.
        text: IMAGE_SIZE.
        put: function(message, field, value).

    Raises:
        Refused: the config resizes images in another way, which has no size.
    """
    kind = resizer.WhichOneof("image_resizer_oneof")
    width, height = sides(text)
    if kind == "fixed_shape_resizer":
        put(resizer.fixed_shape_resizer, "width", width)
        put(resizer.fixed_shape_resizer, "height", height)
    elif kind == "keep_aspect_ratio_resizer":
        keep = resizer.keep_aspect_ratio_resizer
        low, high = min(width, height), max(width, height)
        if "x" not in text:
            high = max(low, round(low * keep.max_dimension / keep.min_dimension)) if keep.min_dimension else low
        put(keep, "min_dimension", low)
        put(keep, "max_dimension", high)
    else:
        raise Refused(
            f"IMAGE_SIZE={text} has no meaning for this config, whose image_resizer is {kind or 'not set'}.",
            "Leave it out, or write fixed_shape_resizer or keep_aspect_ratio_resizer in the config.",
            SETTINGS_REFUSED,
        )
