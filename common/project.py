"""Where the project's own files are: configs, the entrypoint, in an image also build.json."""

import os

PROJECT_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
