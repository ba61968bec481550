"""Finding images: what is said of one that is not there, and what a checksum of the source says of it."""

import pytest

from data_prep.source.image_index import ImageIndex, fingerprint_of


@pytest.mark.parametrize(
    "stem, message, in_the_checksum",
    [
        ("images of", "no image of this name", "no picture of this name"),
        (
            "image",
            "several images of this name: one/image.jpg, two/image.jpg",
            "several pictures of this name: one/image.jpg, two/image.jpg",
        ),
    ],
)
def test_the_checksum_of_a_missing_image_is_that_of_the_first_version(tmp_path, encode, stem, message, in_the_checksum):
    """So that a dataset which was made before the word changed still counts as complete."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "image.jpg").write_bytes(encode())
    with pytest.raises(ValueError) as error:
        ImageIndex(str(tmp_path)).find(stem)
    assert (str(error.value), fingerprint_of(error.value)) == (message, in_the_checksum)
