"""The checksum of TFRecords and of TensorFlow's checkpoints."""

import subprocess
import sys

from data_prep.tfrecord import crc32c


def test_it_is_the_published_crc_32c():
    # Of RFC 3720, section B.4.
    assert crc32c.value(b"123456789") == 0xE3069283
    assert crc32c.value(bytes(32)) == 0x8A9136AA
    assert crc32c.extend(crc32c.value(b"1234"), b"56789") == 0xE3069283


def test_the_mask_is_undone_as_tensorflow_undoes_it():
    # Unmask of tensorflow/core/lib/hash/crc32c.h.
    for crc in (0, 1, 0xE3069283, 0xFFFFFFFF):
        turned = (crc32c.masked(crc) - 0xA282EAD8) & 0xFFFFFFFF
        assert ((turned >> 17) | (turned << 15)) & 0xFFFFFFFF == crc


def test_the_stand_in_for_pkg_resources_does_not_stay():
    code = "import sys; from data_prep.tfrecord import crc32c; sys.exit('pkg_resources' in sys.modules)"
    assert subprocess.call([sys.executable, "-c", code]) == 0
