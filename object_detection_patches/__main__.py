"""Runs the command line: python -m object_detection_patches."""

import sys

from object_detection_patches import cli

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
