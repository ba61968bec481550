"""Text files that are whole or not there."""

import os


def write(path, text):
    """Writes text under a temporary name, onto the disk, and renames it."""
    temporary = path + ".new"
    with open(temporary, "w") as target:
        target.write(text)
        target.flush()
        os.fsync(target.fileno())
    os.replace(temporary, path)
