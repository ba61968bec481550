"""CRC-32C as TFRecord files and TensorFlow's checkpoints store it."""

import sys
import types

_MASK_DELTA = 0xA282EAD8


def _library():
    """google_crc32c. It imports pkg_resources, a tenth of a second, which it uses on Windows only."""
    stand_in = types.ModuleType("pkg_resources")
    stands_in = sys.modules.setdefault("pkg_resources", stand_in) is stand_in
    try:
        import google_crc32c
    finally:
        if stands_in:
            del sys.modules["pkg_resources"]
    return google_crc32c


value, extend = _library().value, _library().extend


def masked(crc: int) -> int:
    """A CRC-32C, rotated and shifted as the formats want it, so that a CRC of CRCs stays useful."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF
